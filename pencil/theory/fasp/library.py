"""The operators of the paper, each built from the four primitives (appendix "Notable Special Cases of FASP").

Where the printed formula is wrong, the corrected one stands here and the printed one is in the errata tests. Names that
Python reserves are spelled out: `both` is AND, `either` OR, `negate` NOT, `maximum` and `minimum` MAX and MIN.
"""

from collections.abc import Callable, Hashable, Sequence
from itertools import product
from typing import Any

from pencil.theory.fasp.expr import (
    Activation,
    Choice,
    Expr,
    Operand,
    Operator,
    Ties,
    activate,
    aha,
    attend,
    combine,
    concat,
    constant,
    is_first,
    linear,
    seq_len,
    token,
)
from pencil.theory.fasp.operator import operator
from pencil.theory.fasp.types import Kind, Type

# ---- FASP[0; ReLU]: arithmetic --------------------------------------------------------------------------------------


def relu(x: Operand) -> Expr:
    """[x]+, the larger of x and 0."""
    return activate(Activation.RELU, x)


@operator("any[d], any[d] -> any+int[d]")
def add(a: Expr, b: Expr) -> Expr:
    """a + b: concatenate, then a linear map."""
    return combine([(1, a), (1, b)])


@operator("any[d], any[d] -> any+int[d]")
def subtract(a: Expr, b: Expr) -> Expr:
    """a - b."""
    return combine([(1, a), (-1, b)])


@operator("any[d], any[d] -> any+int[d]")
def maximum(a: Expr, b: Expr) -> Expr:
    """The larger, coordinate by coordinate."""
    return relu(a - b) + b


@operator("any[d], any[d] -> any+int[d]")
def minimum(a: Expr, b: Expr) -> Expr:
    """The smaller, coordinate by coordinate."""
    return a - relu(a - b)


# ---- FASP[0; ReLU]: booleans ----------------------------------------------------------------------------------------


@operator("bool[d], bool[d]... -> bool[d]", choice=Choice.ALL)
def both(*bools: Expr) -> Expr:
    """AND of two or more: [a + b - 1]+, which is min(a, b) on booleans."""
    count = constant(*[len(bools) - 1] * bools[0].dim)
    return relu(combine([*((1, value) for value in bools), (-1, count)]))


@operator("bool[d] -> bool[d]")
def negate(a: Expr) -> Expr:
    """NOT: 1 - a."""
    return constant(*[1] * a.dim) - a


@operator("bool[d], bool[d]... -> bool[d]")
def either(*bools: Expr) -> Expr:
    """OR of two or more, by De Morgan."""
    return ~both(*(~value for value in bools))


@operator("bool[d], bool[d] -> bool[d]")
def xor(a: Expr, b: Expr) -> Expr:
    """Exactly one of the two."""
    return (a | b) & ~(a & b)


@operator("bool[d], bool[d]... -> bool[d]")
def none_of(*exclusive: Expr) -> Expr:
    """NOT of an OR whose arguments exclude each other: linear, so that it needs no layer."""
    return combine([(1, constant(*[1] * exclusive[0].dim)), *((-1, value) for value in exclusive)])


# ---- FASP[0; ReLU]: comparisons, on integers only -------------------------------------------------------------------


@operator("int[d], int[d] -> bool[d]")
def leq(a: Expr, b: Expr) -> Expr:
    """a <= b."""
    return relu(b - a + _ones(a)) - relu(b - a)


@operator("int[d], int[d] -> bool[d]")
def geq(a: Expr, b: Expr) -> Expr:
    """a >= b."""
    return b <= a


@operator("int[d], int[d] -> bool[d]")
def less(a: Expr, b: Expr) -> Expr:
    """a < b."""
    return a <= b - _ones(b)


@operator("int[d], int[d] -> bool[d]")
def greater(a: Expr, b: Expr) -> Expr:
    """a > b."""
    return b < a


@operator("int[d], int[d] -> bool")
def equal(a: Expr, b: Expr) -> Expr:
    """a = b in every coordinate: the hat function of the difference, then AND."""
    difference = a - b
    hat = relu(difference + _ones(a)) - 2 * relu(difference) + relu(difference - _ones(a))
    return promise(hat, Kind.BOOL) if a.dim == 1 else both(*promise(hat, Kind.BOOL))


@operator("int[d], int[d] -> bool")
def differ(a: Expr, b: Expr) -> Expr:
    """a is not b, in some coordinate."""
    return ~equal(a, b)


def _ones(like: Expr) -> Expr:
    return constant(*[1] * like.dim)


# ---- FASP[0; ReLU]: finite sets, one-hot ----------------------------------------------------------------------------


def onehot(element: Hashable, elements: Sequence[Hashable]) -> Expr:
    """The one-hot vector of an element of a finite set, at every position."""
    return constant(*(int(element == other) for other in elements))


def token_onehot(alphabet: Sequence[Hashable]) -> Expr:
    """The one-hot vector of the current token: the paper's get_token."""
    return token({word: [int(word == other) for other in alphabet] for word in alphabet})


@operator("onehot[*], onehot[*]... -> onehot[*]", choice=Choice.KRON)
def kron(*factors: Expr) -> Expr:
    """The Kronecker product of one-hot vectors, itself one-hot: every coordinate is an AND."""
    offsets = [sum(factor.dim for factor in factors[:index]) for index in range(len(factors))]
    one = sum(factor.dim for factor in factors)
    choices = product(*(range(factor.dim) for factor in factors))
    rows = [
        [*((offset + index, 1) for offset, index in zip(offsets, choice, strict=True)), (one, 1 - len(factors))]
        for choice in choices
    ]
    return relu(linear(rows, concat(*factors, 1)))


def finite_function(function: Callable[..., Sequence[Any]], *arguments: tuple[Expr, Sequence[Any]]) -> Expr:
    """Any function of finite sets: one-hot arguments with their sets, and the vector for each choice of elements."""
    vectors = [function(*choice) for choice in product(*(elements for _, elements in arguments))]
    inputs = [expression for expression, _ in arguments]
    rows: list[list[tuple[int, Any]]] = [[] for _ in vectors[0]]
    for column, vector in enumerate(vectors):
        for row, entry in zip(rows, vector, strict=True):
            if entry:
                row.append((column, entry))
    return linear(rows, inputs[0] if len(inputs) == 1 else kron(*inputs))


def promise(expression: Expr, kind: Kind) -> Expr:
    """Say that a value is of a narrower kind than its formula shows; the exact interpreter checks it."""
    return Operator(Type(kind, expression.dim), "promise", (expression,), expression)


# ---- FASP[0; ReLU]: sequences ---------------------------------------------------------------------------------------


@operator("real[d] -> real[d]")
def average(x: Expr) -> Expr:
    """The mean over all positions so far: attention with nothing to choose."""
    return aha(1, 1, x)


@operator("any -> any")
def seq_max(x: Expr) -> Expr:
    """The largest value so far."""
    return attend(1, x, x, Ties.EQUAL)


@operator("any -> any")
def seq_min(x: Expr) -> Expr:
    """The smallest value so far."""
    return -seq_max(-x)


@operator("bool -> bool")
def seq_or(x: Expr) -> Expr:
    """Whether it has been true."""
    return seq_max(x)


@operator("bool -> bool")
def seq_and(x: Expr) -> Expr:
    """Whether it has always been true."""
    return seq_min(x)


# ---- FASP[0; ReLU, x] -----------------------------------------------------------------------------------------------


@operator("any[d], any[d] -> any+int[d]")
def multiply(a: Expr, b: Expr) -> Expr:
    """a * b, coordinate by coordinate."""
    return activate(Activation.TIMES, a, b)


def reglu(x: Operand, y: Operand) -> Expr:
    """x * [y]+, the gated ReLU."""
    return activate(Activation.REGLU, x, y)


@operator("real[d] -> real[d]")
def square(x: Expr) -> Expr:
    """x * x."""
    return x * x


@operator("bool, any[d], any[d] -> any[d]", choice=Choice.IF)
def if_then_else(condition: Expr, true: Expr, false: Expr) -> Expr:
    """One of two vectors; on booleans the products are ANDs, which need no multiplication."""
    chosen = _spread(condition, true.dim)
    if max(true.type.kind, false.type.kind) <= Kind.BOOL:
        return both(chosen, true) + both(~chosen, false)
    return chosen * true + ~chosen * false


def _spread(scalar: Expr, dim: int) -> Expr:
    """A scalar, repeated."""
    return linear([[(0, 1)]] * dim, scalar)


# ---- FASP[is_first; ReLU, x] ----------------------------------------------------------------------------------------

inv_seq_len = average(is_first)
"""1/n."""


def is_pos(k: int) -> Expr:
    """Whether the position is k: k(k+1)/n is k + 1 there, and at least 1 away elsewhere."""
    distance = k * (k + 1) * inv_seq_len - (k + 1)

    def at_least_zero(x: Expr) -> Expr:
        return promise(relu(x + 1) - relu(x), Kind.BOOL)

    return at_least_zero(-distance) & at_least_zero(distance)


@operator("int[k], int[k], any[d] -> any[d]")
def rha_by_inverse(query: Expr, key: Expr, value: Expr) -> Expr:
    """Rightmost-hard attention from 1/n alone: of equal scores, the one with the largest -1/n wins."""
    return attend(concat(query, 1), concat(key, -inv_seq_len), value, Ties.UNIQUE, inverse_gap=2)


# ---- FASP[n; ReLU, x] -----------------------------------------------------------------------------------------------


@operator("any[d] -> any+int[d]")
def seq_sum(x: Expr) -> Expr:
    """The sum over all positions so far: n times the average."""
    return average(x) * _spread(seq_len, x.dim)


@operator("int[k], int[k], any[d] -> any[d]")
def rha(query: Expr, key: Expr, value: Expr) -> Expr:
    """Rightmost-hard attention: the value at the last position where query times key is highest.

    The score n * (query . key) + j keeps all scores integers: one match more outweighs any position.
    """
    scaled = query * _spread(seq_len, query.dim)
    return attend(concat(scaled, 1), concat(key, seq_len), value, Ties.UNIQUE)


def rightmost_best_match(query: Operand, key: Operand, value: Operand, penalty: Operand = 0) -> Expr:
    """The value at the last position whose key is nearest to the query; squared distance plus penalty decides."""
    return _best_match(query, key, value, penalty)


@operator("int[k], int[k], any[d], int -> any[d]", name="rightmost_best_match")
def _best_match(query: Expr, key: Expr, value: Expr, penalty: Expr) -> Expr:
    squares = linear([[(index, -1) for index in range(key.dim)] + [(key.dim, -1)]], concat(key * key, penalty))
    return rha(concat(query, 1), concat(2 * key, squares), value)


def rightmost_exact_match(query: Operand, key: Operand, value: Operand, default: Operand, penalty: Operand = 0) -> Expr:
    """The value at the last position whose key equals the query, or the default if there is none.

    A position with a penalty above 1 is found only if no other key is as near.
    """
    return _exact_match(query, key, value, default, penalty)


@operator("int[k], int[k], any[d], any[d], int -> any[d]", name="rightmost_exact_match")
def _exact_match(query: Expr, key: Expr, value: Expr, default: Expr, penalty: Expr) -> Expr:
    found = equal(rightmost_best_match(query, key, key, penalty), query)
    return if_then_else(found, rightmost_best_match(query, key, value, penalty), default)
