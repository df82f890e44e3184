from fractions import Fraction

import pytest

from pencil.theory.compiler import compile_program
from pencil.theory.fasp import FaspError, Program
from tests.theory.programs import ALPHABET, digit


def test_weights_that_no_float_holds_are_all_named() -> None:
    value = Fraction(1, 3) * digit + Fraction(1, 10)
    with pytest.raises(FaspError) as caught:
        compile_program(Program(ALPHABET, {"value": value + (2**60 + 1)}))
    assert [
        "1/3" in problem or "1/10" in problem or str(2**60 + 1) in problem for problem in caught.value.problems
    ] == [
        True,
        True,
        True,
    ]


def test_binary_fractions_compile() -> None:
    compile_program(Program(ALPHABET, {"value": Fraction(3, 8) * digit}))
