import pytest

from pencil.theory.fasp import FaspError, Kind, Program, Type, interpret
from pencil.theory.fasp.expr import Expr, Operator
from pencil.theory.fasp.operator import operator
from tests.theory.programs import ALPHABET, digit, odd, word


@operator("int[d], int[d] -> int[d]")
def twice_the_sum(a: Expr, b: Expr) -> Expr:
    """Two times a + b."""
    return 2 * (a + b)


def test_an_operator_keeps_its_name_arguments_and_definition() -> None:
    value = twice_the_sum(digit, odd)
    assert isinstance(value, Operator)
    assert (value.name, value.arguments, value.type) == ("twice_the_sum", (digit, odd), Type(Kind.INT))
    assert twice_the_sum.__doc__ == "Two times a + b."
    assert interpret(Program(ALPHABET, {"value": value}), "134").result.ravel().tolist() == [4, 8, 8]


def test_a_number_takes_the_dimension_of_its_neighbour() -> None:
    value = twice_the_sum(word, 1)
    assert value.dim == 5
    assert interpret(Program(ALPHABET, {"value": value}), "1").result.tolist() == [[2, 4, 2, 2, 2]]


def test_arguments_that_do_not_fit_are_told_with_the_place_of_the_call() -> None:
    with pytest.raises(FaspError, match=r"test_operator.py:\d+: twice_the_sum found \(one-hot\[5\], int\), expected"):
        Program(ALPHABET, {"value": twice_the_sum(word, digit)})
