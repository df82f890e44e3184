"""Drawings of FASP: an expression as text, a program as a listing, a value as a table, attention as a matrix.

>>> from pencil.theory.fasp.interpret import interpret
>>> from pencil.theory.fasp.expr import token
>>> from pencil.theory.fasp.library import seq_or, seq_sum
>>> from pencil.theory.fasp.program import Program
>>> seen = seq_or(token({"#": 1}, default=0))
>>> run = interpret(Program("ab#", {"seen": seen, "after": seq_sum(seen)}), "ab#a")
>>> run["seen"]
a b # a
· · █ █  seen
>>> run
       a b # a
seen   · · █ █  bool
after  0 0 1 2  int
"""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any

from pencil.theory.fasp.expr import (
    Activate,
    Activation,
    Attend,
    Concat,
    Constant,
    Expr,
    Linear,
    Number,
    Operator,
    Position,
    Token,
    topological,
)
from pencil.theory.fasp.interpret import Run, Value
from pencil.theory.fasp.program import Program
from pencil.theory.fasp.types import Kind

_LONGEST = 100  # characters of a description before it is cut


# ---- expressions ----------------------------------------------------------------------------------------------------


def describe(expression: Expr, names: Mapping[int, str] | None = None) -> str:
    """An expression as text; expressions in `names`, by identity, appear by their names."""
    text = _describe(expression, names or {}, outermost=True)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _describe(expression: Expr, names: Mapping[int, str], *, outermost: bool = False) -> str:
    if not outermost and id(expression) in names:
        return names[id(expression)]
    if isinstance(expression, Operator):
        return _describe_operator(expression, names)
    if isinstance(expression, Token):
        return _describe_token(expression)
    if isinstance(expression, Constant):
        return _tuple(expression.values)
    if isinstance(expression, Position):
        return expression.feature.value
    if isinstance(expression, Linear):
        return _describe_linear(expression, names)
    arguments = [_describe(child, names) for child in expression.children]
    if isinstance(expression, Concat):
        return f"[{', '.join(arguments)}]"
    return f"{_function_name(expression)}({', '.join(arguments)})"


def _function_name(expression: Expr) -> str:
    if isinstance(expression, Activate):
        return "times" if expression.activation is Activation.TIMES else expression.activation.value
    return "aha" if isinstance(expression, Attend) else "broken"


def _describe_operator(expression: Operator, names: Mapping[int, str]) -> str:
    arguments = [_describe(argument, names) for argument in expression.arguments]
    if expression.name == "promise":
        return arguments[0]
    sign = {"add": "+", "subtract": "-", "multiply": "*"}.get(expression.name)
    if sign is None:
        return f"{expression.name}({', '.join(arguments)})"
    left, right = arguments
    if sign == "*" or (sign == "-" and " " in right):
        left, right = _wrapped(left), _wrapped(right)
    return f"{left} {sign} {right}" if sign != "*" else f"{left}*{right}"


def _wrapped(text: str) -> str:
    """In parentheses if it is a sum."""
    return f"({text})" if " + " in text or " - " in text else text


def _describe_token(expression: Token) -> str:
    rows = [f"{word}: {_tuple(row)}" for word, row in list(expression.rows.items())[:4]]
    rest = ["…"] if len(expression.rows) > 4 else []
    other = [] if expression.default is None else [f"else {_tuple(expression.default)}"]
    return f"token({', '.join([*rows, *rest, *other])})"


def _describe_linear(expression: Linear, names: Mapping[int, str]) -> str:
    inside = _describe(expression.child, names)
    factor = _scaling(expression)
    if factor is not None:
        return inside if factor == 1 else f"{'-' if factor == -1 else f'{factor}*'}{_wrapped(inside)}"
    if all(len(row) == 1 and row[0][1] == 1 for row in expression.matrix):
        return f"{inside}[{', '.join(str(row[0][0]) for row in expression.matrix)}]"
    return f"linear[{expression.dim}x{expression.child.dim}]({inside})"


def _scaling(expression: Linear) -> Number | None:
    """The number a linear map multiplies with, if that is all it does."""
    factors = {
        row[0][1] if len(row) == 1 and row[0][0] == index else None for index, row in enumerate(expression.matrix)
    }
    return factors.pop() if len(factors) == 1 and expression.dim == expression.child.dim else None


def _tuple(entries: Sequence[Number]) -> str:
    parts = [str(entry) for entry in entries]
    if len(parts) > 8:
        one_hot = sorted(entries) == [0] * (len(parts) - 1) + [1]
        return f"onehot({parts.index('1')} of {len(parts)})" if one_hot else f"({', '.join(parts[:8])}, …)"
    return parts[0] if len(parts) == 1 else f"({', '.join(parts)})"


# ---- programs -------------------------------------------------------------------------------------------------------


def listing(program: Program) -> str:
    """A program, one named value on each line."""
    names = {id(expression): name for name, expression in program.values.items()}
    alphabet = [str(word) for word in program.alphabet]
    shown = " ".join(alphabet if len(alphabet) <= 12 else [*alphabet[:11], f"… ({len(alphabet)} tokens)"])
    rows = [(name, str(value.type), describe(value, names)) for name, value in program.values.items()]
    return "\n".join([f"{program.variant} over {shown}", *(f"  {line}" for line in _align(rows))])


def _align(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


# ---- values ---------------------------------------------------------------------------------------------------------


def draw(value: Value) -> str:
    """A value under its tokens; booleans as a mask, each coordinate of a vector on a line of its own."""
    return "\n".join(_columns(value.tokens, [("", line, name) for line, name in _lines(value)]))


def draw_run(run: Run) -> str:
    """All named values of a run under the tokens."""
    rows = []
    for name in run.program.values:
        value = run[name]
        for index, (line, _) in enumerate(_lines(value)):
            rows.append((name if index == 0 else "", line, str(value.type) if index == 0 else ""))
    return "\n".join(_columns(run.tokens, rows))


def _lines(value: Value) -> Iterator[tuple[list[str], str]]:
    for coordinate in range(value.array.shape[1]):
        name = value.name if value.array.shape[1] == 1 else f"{value.name}[{coordinate}]"
        yield [_entry(entry, value.type.kind) for entry in value.array[:, coordinate]], name


def _columns(tokens: Sequence[Hashable], rows: Sequence[tuple[str, list[str], str]]) -> list[str]:
    """A heading of tokens, then rows of a name, entries and a note, all in columns."""
    left = max(len(name) for name, _, _ in rows)
    words = [str(word) for word in tokens]
    widths = [max(len(words[i]), *(len(line[i]) for _, line, _ in rows)) for i in range(len(words))]

    def render(name: str, line: Sequence[str], note: str) -> str:
        cells = " ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True))
        return f"{name.ljust(left)}{'  ' if left else ''}{cells}  {note}".rstrip()

    return [render("", words, ""), *(render(*row) for row in rows)]


def _entry(entry: Any, kind: Kind) -> str:
    if kind <= Kind.BOOL and entry in (0, 1):
        return "█" if entry else "·"
    return f"{entry:g}" if isinstance(entry, float) else str(entry)


# ---- attention ------------------------------------------------------------------------------------------------------


def attentions(program: Program) -> list[tuple[str, Attend]]:
    """The attentions of a program, each with the first named value that depends on it."""
    found: dict[int, tuple[str, Attend]] = {}
    for name, value in program.values.items():
        for expression in topological([value]):
            if isinstance(expression, Attend):
                found.setdefault(id(expression), (name, expression))
    return list(found.values())


def draw_attentions(run: Run) -> str:
    """What each attention of a run looks at; those of one value that look at the same are drawn once."""
    names = {id(expression): name for name, expression in run.program.values.items()}
    drawings: dict[tuple[str, str], str] = {}
    for name, attention in attentions(run.program):
        drawings.setdefault((name, draw_attention(run, attention)), describe(attention, names))
    return "\n".join(f"\n{name}: {formula}\n{drawing}" for (name, drawing), formula in drawings.items())


def draw_attention(run: Run, expression: Attend) -> str:
    """The matrix of weights: a row for each prefix, a column for each position it may look at."""
    weights = run.weights(expression)
    words = [str(word) for word in run.tokens]
    width = max(map(len, words))
    rows = []
    for place, row in enumerate(weights):
        cells = " ".join(_shade(weight).rjust(len(word)) for weight, word in zip(row[: place + 1], words, strict=False))
        rows.append(f"{words[place].rjust(width)}  {cells}")
    return "\n".join([f"{' ' * width}  {' '.join(words)}", *rows])


def _shade(weight: Any) -> str:
    """How much weight, as one character."""
    return "·" if not weight else "█" if weight == 1 else "▓" if weight >= 0.5 else "▒" if weight >= 0.25 else "░"
