"""Run a FASP program as its definition says: every value at every prefix of the input.

Exact with Python's integers and fractions, or fast with numpy's floats. This is the reference that the compiler is
tested against.

>>> from pencil.theory.fasp.expr import token
>>> from pencil.theory.fasp.library import seq_sum
>>> from pencil.theory.fasp.program import Program
>>> run = interpret(Program("()", {"depth": seq_sum(token({"(": 1, ")": -1}))}), "(()")
>>> run["depth"].scalars()
[1, 2, 1]
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from pencil.theory.fasp.expr import (
    Activate,
    Activation,
    Attend,
    Concat,
    Constant,
    Expr,
    Linear,
    Operator,
    Position,
    PositionKind,
    Ties,
    Token,
)
from pencil.theory.fasp.program import Program
from pencil.theory.fasp.types import FaspError, Kind, Type

Array = npt.NDArray[Any]

_ACTIVATIONS: dict[Activation, Callable[..., Array]] = {
    Activation.RELU: lambda x: np.maximum(x, 0),
    Activation.TIMES: lambda x, y: x * y,
    Activation.REGLU: lambda x, y: x * np.maximum(y, 0),
}


@dataclass(frozen=True, repr=False)
class Value:
    """What one expression is at every prefix."""

    name: str
    tokens: tuple[Hashable, ...]
    type: Type
    array: Array
    """(n, d): position, coordinate."""

    def scalars(self) -> list[Any]:
        """The first coordinate at every prefix."""
        return [_plain(entry) for entry in self.array[:, 0]]

    def __repr__(self) -> str:
        from pencil.theory.fasp.show import draw

        return draw(self)


@dataclass(frozen=True, repr=False)
class Run:
    """All values of a program on one input, by name and by expression."""

    program: Program
    tokens: tuple[Hashable, ...]
    arrays: Mapping[int, Array]
    """By the identity of the expression."""

    def __getitem__(self, name: str) -> Value:
        return self.of(self.program.values[name], name)

    def of(self, expression: Expr, name: str = "") -> Value:
        """The value of any expression of the program."""
        return Value(name, self.tokens, expression.type, self.arrays[id(expression)])

    @property
    def result(self) -> Array:
        """The last named value: (n, d)."""
        return self.arrays[id(self.program.result)]

    def next_tokens(self) -> list[Hashable]:
        """The predicted next token after every prefix."""
        return [self.program.alphabet[int(index)] for index in self.result.argmax(axis=1)]

    def weights(self, expression: Attend) -> Array:
        """An attention's weights: (n, n), a row for each prefix."""
        scores = self.arrays[id(expression.query)] @ self.arrays[id(expression.key)].T
        return _hardmax(scores)

    def __repr__(self) -> str:
        from pencil.theory.fasp.show import draw_run

        return draw_run(self)


def interpret(program: Program, tokens: Sequence[Hashable], *, exact: bool = True) -> Run:
    """Every value at every prefix; `exact` computes with fractions and checks every promised type."""
    unknown = [str(word) for word in dict.fromkeys(tokens) if word not in program.alphabet]
    if unknown or not tokens:
        found = f"found {' '.join(unknown)}" if unknown else "found nothing"
        raise FaspError([f"the input needs tokens among {' '.join(map(str, program.alphabet))}; {found}"])
    dtype = object if exact else np.float64
    arrays: dict[int, Array] = {}
    for expression in program.expressions:
        arrays[id(expression)] = _evaluate(expression, tokens, arrays, dtype)
        if exact:
            _check(expression, arrays)
    return Run(program, tuple(tokens), arrays)


def _evaluate(expression: Expr, tokens: Sequence[Hashable], arrays: Mapping[int, Array], dtype: Any) -> Array:
    """One expression from the values of its children: (n, d)."""
    length = len(tokens)
    inputs = [arrays[id(child)] for child in expression.children]
    if isinstance(expression, Token):
        return np.array([expression.row(word) for word in tokens], dtype)
    if isinstance(expression, Constant):
        return np.array([expression.values] * length, dtype)
    if isinstance(expression, Position):
        first = expression.feature is PositionKind.IS_FIRST
        return np.array([[int(n == 1) if first else n] for n in range(1, length + 1)], dtype)
    if isinstance(expression, Concat):
        return np.concatenate(inputs, axis=1)
    if isinstance(expression, Linear):
        projected: Array = inputs[0] @ expression.dense.T.astype(dtype)
        return projected
    if isinstance(expression, Attend):
        query, key, value = inputs
        return _hardmax(query @ key.T) @ value
    if isinstance(expression, Activate):
        return _ACTIVATIONS[expression.activation](*inputs)
    assert isinstance(expression, Operator), expression
    return arrays[id(expression.body)]


def _hardmax(scores: Array) -> Array:
    """Equal weight on the highest scores among j <= n: (n, n)."""
    length = len(scores)
    causal = np.tri(length, dtype=bool)
    lowest = scores.min() - 1
    masked = np.where(causal, scores, lowest)
    best = masked == masked.max(axis=1, keepdims=True)
    if scores.dtype != object:
        weights: Array = best / best.sum(axis=1, keepdims=True)
        return weights
    return np.array([[Fraction(int(hit), int(row.sum())) for hit in row] for row in best], object)


def _plain(entry: Any) -> Any:
    """A whole fraction as an integer."""
    return int(entry) if isinstance(entry, Fraction) and entry.denominator == 1 else entry


def _check(expression: Expr, arrays: Mapping[int, Array]) -> None:
    """Raise if a value is not of the type that was promised, or ties are not as promised."""
    array = arrays[id(expression)]
    if not _belongs(array, expression.type.kind):
        raise FaspError(
            [f"{expression!r} was promised to be {expression.type}, found {_stray(array, expression.type)}"]
        )
    if isinstance(expression, Attend) and expression.ties is not Ties.AVERAGE:
        _check_ties(expression, arrays)


def _belongs(array: Array, kind: Kind) -> bool:
    if kind is Kind.REAL:
        return True
    if kind is Kind.INT:
        return all(entry.denominator == 1 for entry in array.flat)
    boolean = all(entry in (0, 1) for entry in array.flat)
    return boolean and (kind is Kind.BOOL or all(sum(row) == 1 for row in array))


def _stray(array: Array, type_: Type) -> str:
    """The first row that is not of a type, and where."""
    place = next(index for index in range(len(array)) if not _belongs(array[index : index + 1], type_.kind))
    return f"{[str(entry) for entry in array[place]]} at position {place + 1}"


def _check_ties(expression: Attend, arrays: Mapping[int, Array]) -> None:
    query, key, value = (arrays[id(child)] for child in expression.children)
    for place, row in enumerate(_hardmax(query @ key.T)):
        chosen = [tuple(value[index]) for index, weight in enumerate(row) if weight]
        if len(set(chosen)) > 1 or (expression.ties is Ties.UNIQUE and len(chosen) > 1):
            raise FaspError([f"{expression!r} promised {expression.ties.value} ties; not so at position {place + 1}"])
