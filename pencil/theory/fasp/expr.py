"""FASP expressions: the paper's four primitives over token and position embeddings, and named operators made of them.

An expression stands for a function from sequences to vectors; it is built once and holds no data (paper, appendix
"Full-Access Sequence Processing"). Ill-typed expressions are built too, as `Broken`, so that a `Program` can list every
problem at once.

>>> step = token({"(": 1, ")": -1})
>>> step
token((: 1, ): -1): int
>>> 2 * seq_len - 1
2*n - 1: int
"""

import sys
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from functools import cached_property
from typing import Any, Union

import numpy as np
import numpy.typing as npt

from pencil.theory.fasp.types import Kind, Signature, Type

Number = int | Fraction
Row = tuple[tuple[int, Number], ...]
"""One row of a sparse matrix: pairs of column and coefficient."""
Operand = Union["Expr", int, float, Fraction]


class Ties(Enum):
    """What is known about the positions that share an attention's highest score."""

    AVERAGE = "averaged"
    """Nothing: their values are averaged, as the primitive says."""
    EQUAL = "equal"
    """They hold equal values, so that any of them will do."""
    UNIQUE = "unique"
    """There is only one."""


@dataclass(frozen=True, eq=False, repr=False)
class Expr:
    """A function from sequences to vectors; `+ - *`, comparisons, `& | ^ ~` and `[i]` build larger ones."""

    type: Type

    @property
    def dim(self) -> int:
        """How many coordinates it has."""
        return self.type.dim or 1

    @property
    def children(self) -> tuple["Expr", ...]:
        """The expressions it is made of."""
        return ()

    def __repr__(self) -> str:
        from pencil.theory.fasp.show import describe

        return f"{describe(self)}: {self.type}"

    def __add__(self, other: Operand) -> "Expr":
        return _apply("add", self, other)

    def __radd__(self, other: Operand) -> "Expr":
        return _apply("add", other, self)

    def __sub__(self, other: Operand) -> "Expr":
        return _apply("subtract", self, other)

    def __rsub__(self, other: Operand) -> "Expr":
        return _apply("subtract", other, self)

    def __neg__(self) -> "Expr":
        return combine([(-1, self)])

    def __mul__(self, other: Operand) -> "Expr":
        return _apply("multiply", self, other) if isinstance(other, Expr) else combine([(other, self)])

    def __rmul__(self, other: Operand) -> "Expr":
        return self * other

    def __le__(self, other: Operand) -> "Expr":
        return _apply("leq", self, other)

    def __ge__(self, other: Operand) -> "Expr":
        return _apply("geq", self, other)

    def __lt__(self, other: Operand) -> "Expr":
        return _apply("less", self, other)

    def __gt__(self, other: Operand) -> "Expr":
        return _apply("greater", self, other)

    def __and__(self, other: Operand) -> "Expr":
        return _apply("both", self, other)

    def __or__(self, other: Operand) -> "Expr":
        return _apply("either", self, other)

    def __xor__(self, other: Operand) -> "Expr":
        return _apply("xor", self, other)

    def __invert__(self) -> "Expr":
        return _apply("negate", self)

    def __bool__(self) -> bool:
        raise TypeError("a FASP value has no truth value while it is written; use & | ~ and if_then_else")

    def __getitem__(self, index: int) -> "Expr":
        if not 0 <= index < self.dim:  # also ends Python's own iteration protocol
            raise IndexError(f"coordinate {index} of a value with {self.dim}")
        return linear([((index, 1),)], self)

    def __iter__(self) -> Iterator["Expr"]:
        return (self[index] for index in range(self.dim))


def _apply(name: str, *operands: Operand) -> Expr:
    from pencil.theory.fasp import library  # imported late: the library is written with these very operators

    result: Expr = getattr(library, name)(*operands)
    return result


@dataclass(frozen=True, eq=False, repr=False)
class Token(Expr):
    """A token embedding: a vector for each token."""

    rows: Mapping[Hashable, tuple[Number, ...]]
    default: tuple[Number, ...] | None
    """The vector of all other tokens; None where a token without a row is an error."""

    def row(self, word: Hashable) -> tuple[Number, ...]:
        """The vector of one token."""
        found = self.rows.get(word, self.default)
        assert found is not None, word
        return found


@dataclass(frozen=True, eq=False, repr=False)
class Constant(Expr):
    """The same vector everywhere: the token embedding that does not look at the token."""

    values: tuple[Number, ...]


class PositionKind(Enum):
    """The positional embedding that a variant of FASP has."""

    NONE = "0"
    IS_FIRST = "is_first"
    N = "n"


@dataclass(frozen=True, eq=False, repr=False)
class Position(Expr):
    """The positional embedding: n, or whether n = 1."""

    feature: PositionKind


@dataclass(frozen=True, eq=False, repr=False)
class Concat(Expr):
    """The first primitive: vectors side by side."""

    parts: tuple[Expr, ...]

    @property
    def children(self) -> tuple[Expr, ...]:
        """What is put together."""
        return self.parts


@dataclass(frozen=True, eq=False, repr=False)
class Attend(Expr):
    """The second primitive, average-hard attention: the mean value where query times key is highest."""

    query: Expr
    key: Expr
    value: Expr
    ties: Ties
    inverse_gap: int
    """Different scores differ by at least n to the power of minus this."""

    @property
    def children(self) -> tuple[Expr, ...]:
        """Query, key and value."""
        return (self.query, self.key, self.value)


@dataclass(frozen=True, eq=False, repr=False)
class Linear(Expr):
    """The third primitive, a linear projection."""

    matrix: tuple[Row, ...]
    child: Expr

    @property
    def children(self) -> tuple[Expr, ...]:
        """What is projected."""
        return (self.child,)

    @cached_property
    def dense(self) -> npt.NDArray[np.object_]:
        """The matrix with all of its zeros: (d, dimension of the child)."""
        dense = np.zeros((self.dim, self.child.dim), object)
        for index, row in enumerate(self.matrix):
            for column, factor in row:
                dense[index, column] += factor
        return dense


class Activation(Enum):
    """The nonlinear functions of the fourth primitive."""

    RELU = "ReLU"
    TIMES = "x"
    REGLU = "ReGLU"


@dataclass(frozen=True, eq=False, repr=False)
class Activate(Expr):
    """The fourth primitive, coordinate by coordinate: [x]+, or x*y, or x*[y]+."""

    activation: Activation
    arguments: tuple[Expr, ...]

    @property
    def children(self) -> tuple[Expr, ...]:
        """One argument, or two."""
        return self.arguments


class Choice(Enum):
    """Operators on booleans that the compiler can join with others of their kind into one layer."""

    ALL = "all arguments, coordinate by coordinate"
    IF = "the second argument if the first, else the third"
    KRON = "one coordinate of each argument, in all combinations"


@dataclass(frozen=True, eq=False, repr=False)
class Operator(Expr):
    """A custom closed operator applied: its name and arguments, and the composition that defines it."""

    name: str
    arguments: tuple[Expr, ...]
    body: Expr
    choice: Choice | None = None

    @property
    def children(self) -> tuple[Expr, ...]:
        """The arguments and the definition."""
        return (*self.arguments, self.body)


@dataclass(frozen=True, eq=False, repr=False)
class Broken(Expr):
    """An operator applied to what it does not take."""

    problem: str
    arguments: tuple[Expr, ...]

    @property
    def children(self) -> tuple[Expr, ...]:
        """The arguments, which may have problems of their own."""
        return self.arguments


# ---- the primitives -------------------------------------------------------------------------------------------------


def token(rows: Mapping[Any, Any], default: Any = None) -> Expr:
    """A token embedding from each token's number or vector; `default` is for all tokens that are not listed."""
    vectors = {word: _vector(value) for word, value in rows.items()}
    rest = None if default is None else _vector(default)
    every = [*vectors.values(), *([] if rest is None else [rest])]
    if not every or len({len(vector) for vector in every}) != 1:
        sizes = sorted({len(vector) for vector in every})
        return _broken("token", f"needs vectors of one dimension, found dimensions {sizes}", ())
    return Token(Type(_kind_of(every), len(every[0])), vectors, rest)


def constant(*values: int | float | Fraction) -> Expr:
    """The same vector at every position."""
    vector = _vector(values)
    return Constant(Type(_kind_of([vector]), len(vector)), vector)


seq_len = Position(Type(Kind.INT), PositionKind.N)
"""The position n, which is the length of the prefix."""
is_first = Position(Type(Kind.BOOL), PositionKind.IS_FIRST)
"""Whether the position is the first."""


def concat(*parts: Operand) -> Expr:
    """Vectors side by side."""
    expressions = tuple(as_expr(part) for part in parts)
    if len(expressions) == 1:
        return expressions[0]
    kind = max(max(part.type.kind, Kind.BOOL) for part in expressions)
    return Concat(Type(kind, sum(part.dim for part in expressions)), expressions)


def aha(query: Operand, key: Operand, value: Operand) -> Expr:
    """Average-hard attention: the mean of `value` over the positions where query times key is highest."""
    return attend(query, key, value, Ties.AVERAGE)


def attend(query: Operand, key: Operand, value: Operand, ties: Ties, inverse_gap: int = 0) -> Expr:
    """`aha` with a promise about ties; under one, the result has the type of the value."""
    query, key, value = as_expr(query), as_expr(key), as_expr(value)
    result = _AHA.apply([query.type, key.type, value.type])
    if result is None:
        return mismatch("aha", _AHA, (query, key, value))
    kind = Kind.REAL if ties is Ties.AVERAGE else value.type.kind
    return Attend(Type(kind, value.dim), query, key, value, ties, inverse_gap)


_AHA = Signature.parse("real[k], real[k], real[d] -> real[d]")


def linear(matrix: Sequence[Sequence[tuple[int, int | float | Fraction]]], child: Operand) -> Expr:
    """A linear map, given as sparse rows of (coordinate, coefficient)."""
    expression = as_expr(child)
    rows = tuple(tuple((index, _number(c)) for index, c in row if c) for row in matrix)
    outside = sorted({index for row in rows for index, _ in row if not 0 <= index < expression.dim})
    if outside and expression.type.dim is not None:
        return _broken("linear", f"reads coordinate {outside[0]} of {expression.type}", (expression,))
    return Linear(Type(_linear_kind(rows, expression.type.kind), len(rows)), rows, expression)


def combine(terms: Sequence[tuple[int | float | Fraction, Expr]]) -> Expr:
    """A sum of equally long vectors, each times a number."""
    dim = terms[0][1].dim
    rows = [[(part * dim + index, factor) for part, (factor, _) in enumerate(terms)] for index in range(dim)]
    return linear(rows, concat(*(term for _, term in terms)))


def activate(activation: Activation, *arguments: Operand) -> Expr:
    """An activation function, coordinate by coordinate."""
    expressions = tuple(as_expr(argument) for argument in arguments)
    signature = _UNARY if activation is Activation.RELU else _BINARY
    result = signature.apply([argument.type for argument in expressions])
    if result is None:
        return mismatch(activation.value, signature, expressions)
    return Activate(result, activation, expressions)


_UNARY = Signature.parse("any[d] -> any+int[d]")
_BINARY = Signature.parse("any[d], any[d] -> any+int[d]")


# ---- numbers as expressions, mistakes as expressions -----------------------------------------------------------------


def as_expr(operand: Operand, dim: int = 1) -> Expr:
    """An expression as it is; a number as a constant."""
    return operand if isinstance(operand, Expr) else constant(*([operand] * dim))


def mismatch(name: str, signature: Signature, arguments: tuple[Expr, ...]) -> Expr:
    """An operator applied to arguments that do not fit its signature."""
    found = ", ".join(str(argument.type) for argument in arguments)
    kind = Kind.ONEHOT if signature.result.kind is None else signature.result.kind
    return _broken(name, f"found ({found}), expected {signature.expected}", arguments, kind)


def _broken(name: str, message: str, arguments: tuple[Expr, ...], kind: Kind = Kind.ONEHOT) -> Expr:
    """The wreck fits everywhere, so that one mistake is reported once."""
    return Broken(Type(kind, None), f"{_place()}{name} {message}", arguments)


def _place() -> str:
    """File and line outside of this package from where an operator was called."""
    package = __name__.rsplit(".", 1)[0]
    frame = sys._getframe(1)
    while frame.f_back is not None and str(frame.f_globals.get("__name__")).startswith(package):
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}: "


# ---- numbers --------------------------------------------------------------------------------------------------------


def _number(value: Any) -> Number:
    if type(value) is int:
        return value
    fraction = Fraction(value)
    return int(fraction) if fraction.denominator == 1 else fraction


def _vector(value: Any) -> tuple[Number, ...]:
    return tuple(_number(entry) for entry in value) if isinstance(value, Sequence) else (_number(value),)


def _kind_of(vectors: Sequence[tuple[Number, ...]]) -> Kind:
    """The narrowest kind that holds all of these vectors."""
    entries = {entry for vector in vectors for entry in vector}
    if entries <= {0, 1}:
        exclusive = len(vectors[0]) > 1 and all(sum(vector) == 1 for vector in vectors)
        return Kind.ONEHOT if exclusive else Kind.BOOL
    return Kind.INT if all(isinstance(entry, int) for entry in entries) else Kind.REAL


def _linear_kind(rows: Sequence[Row], kind: Kind) -> Kind:
    """Selecting coordinates keeps booleans, integer matrices keep integers."""
    if kind <= Kind.BOOL and all(len(row) == 1 and row[0][1] == 1 for row in rows):
        return Kind.BOOL
    integral = all(isinstance(factor, int) for row in rows for _, factor in row)
    return max(kind, Kind.INT) if integral else Kind.REAL


def topological(
    roots: Sequence[Expr], children: Callable[[Expr], Sequence[Expr]] = lambda expression: expression.children
) -> list[Expr]:
    """Every expression below the roots, children first, each once."""
    order: dict[int, Expr] = {}
    stack = [(root, False) for root in reversed(roots)]
    while stack:
        expression, children_done = stack.pop()
        if id(expression) in order:
            continue
        if children_done:
            order[id(expression)] = expression
        else:
            stack.append((expression, True))
            stack.extend((child, False) for child in reversed(children(expression)))
    return list(order.values())
