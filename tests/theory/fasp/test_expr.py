from fractions import Fraction

import pytest

from pencil.theory.fasp import Kind, Type
from pencil.theory.fasp.expr import Expr, Linear, aha, concat, constant, linear, seq_len, token, topological
from pencil.theory.fasp.library import seq_max, seq_sum
from tests.theory.programs import digit, odd, word


@pytest.mark.parametrize(
    ("value", "kind", "dim"),
    [
        (token({"a": 1, "b": 0}), Kind.BOOL, 1),
        (token({"a": [1, 0], "b": [0, 1]}), Kind.ONEHOT, 2),
        (token({"a": [1, 0]}, default=[0, 0]), Kind.BOOL, 2),
        (token({"a": 7}), Kind.INT, 1),
        (token({"a": 0.5}), Kind.REAL, 1),
        (constant(0, 1, 0), Kind.ONEHOT, 3),
        (concat(word, odd), Kind.BOOL, 6),
        (linear([[(0, 2)]], odd), Kind.INT, 1),
        (linear([[(0, Fraction(1, 2))]], odd), Kind.REAL, 1),
        (aha(1, 1, digit), Kind.REAL, 1),
        (seq_max(odd), Kind.BOOL, 1),
        (seq_sum(odd), Kind.INT, 1),
        (word[2], Kind.BOOL, 1),
    ],
)
def test_types_are_inferred(value: Expr, kind: Kind, dim: int) -> None:
    assert value.type == Type(kind, dim)


def test_a_vector_unpacks_into_its_coordinates() -> None:
    first, *rest = word
    assert isinstance(first, Linear)
    assert len(rest) == 4
    with pytest.raises(IndexError, match="coordinate 5 of a value with 5"):
        word[5]


def test_expressions_come_after_what_they_are_made_of() -> None:
    total = seq_sum(digit) + seq_len
    order = topological([total, digit])
    places = {id(expression): place for place, expression in enumerate(order)}
    assert len(places) == len(order)
    assert all(places[id(child)] < places[id(parent)] for parent in order for child in parent.children)


def test_a_very_long_sum_is_no_problem() -> None:
    total: Expr = digit
    for _ in range(2000):
        total = total + 1
    assert len(topological([total])) > 2000


def test_a_value_has_no_truth_value() -> None:
    with pytest.raises(TypeError, match="has no truth value"):
        bool(seq_len)
