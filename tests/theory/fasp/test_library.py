"""Errata: each formula that is wrong in print fails on its counterexample, and ours does not.

The printed formulas exist only here.
"""

from dataclasses import dataclass
from fractions import Fraction

import pytest

from pencil.theory.fasp import FASP_0_RELU, FASP_FIRST, FASP_N, FASP_N_REGLU, FaspError, Program, Variant, interpret
from pencil.theory.fasp.expr import Expr, aha, concat, constant, seq_len, token
from pencil.theory.fasp.library import (
    average,
    equal,
    finite_function,
    if_then_else,
    inv_seq_len,
    leq,
    maximum,
    minimum,
    reglu,
    relu,
    rha_by_inverse,
    rightmost_best_match,
    rightmost_exact_match,
    seq_max,
    seq_or,
)
from tests.theory.programs import ALPHABET, digit, odd, signed, word

zero, one, two = constant(0), constant(1), constant(2)


def printed_max(a: Expr, b: Expr) -> Expr:
    return relu(a - b) * b


def printed_min(a: Expr, b: Expr) -> Expr:
    return -(relu(a - b) * b)


@dataclass(frozen=True)
class Erratum:
    """A printed formula, ours, an input, what the printed one gives at its end and what it should."""

    name: str
    printed: Expr
    ours: Expr
    tokens: str
    wrong: Fraction | int
    right: int
    variant: Variant = FASP_N


ERRATA = [
    Erratum("max(0, 1)", printed_max(zero, one), maximum(zero, one), "0", 0, 1),
    Erratum("min(2, 1)", printed_min(two, one), minimum(two, one), "0", -1, 1),
    Erratum("and(1, 1)", printed_min(one, one), one & one, "0", 0, 1),
    Erratum("or(0, 0)", 1 - printed_min(one, one), zero | zero, "0", 1, 0),
    Erratum("seq_or of 0 1 0", aha(odd, odd, odd), seq_or(odd), "010", Fraction(1, 3), 1),
    Erratum("seq_max of -2 -1", aha(signed, signed, signed), seq_max(signed), "01", -2, -1),
    Erratum(
        "rha over equal keys",
        aha(concat(1, 1), concat(1, inv_seq_len), digit),
        rha_by_inverse(1, 1, digit),
        "0123",
        0,
        3,
        FASP_FIRST,
    ),
    Erratum(
        "rightmost exact match",
        if_then_else(equal(rightmost_best_match(digit - 1, digit, digit), digit - 1), seq_len, -1),
        rightmost_exact_match(digit - 1, digit, seq_len, -1),
        "102",
        3,
        1,
    ),
    Erratum("ReLU(-2) from ReGLU", reglu(signed, 1), reglu(1, signed), "0", -2, 0, FASP_N_REGLU),
]


def last(value: Expr, tokens: str, variant: Variant) -> object:
    return interpret(Program(ALPHABET, {"value": value}, variant), tokens)["value"].scalars()[-1]


@pytest.mark.parametrize("erratum", ERRATA, ids=lambda erratum: erratum.name)
def test_the_printed_formula_fails_where_ours_does_not(erratum: Erratum) -> None:
    assert last(erratum.printed, erratum.tokens, erratum.variant) == erratum.wrong != erratum.right
    assert last(erratum.ours, erratum.tokens, erratum.variant) == erratum.right


def test_the_printed_inverse_length_uses_a_position_that_its_variant_lacks() -> None:
    with pytest.raises(FaspError, match=r"the position n is used, which FASP\[is_first; ReLU, x\] does not have"):
        Program(ALPHABET, {"value": average(equal(seq_len, 1))}, FASP_FIRST)


def test_comparisons_hold_on_integers_only() -> None:
    quarter = constant(0.25)
    assert last(relu(0 - quarter + 1) - relu(0 - quarter), "0", FASP_N) == Fraction(3, 4)
    with pytest.raises(FaspError, match=r"leq found \(real, bool\), expected \(int\[d\], int\[d\]\)"):
        Program(ALPHABET, {"value": leq(quarter, zero)})


def test_any_function_of_finite_sets() -> None:
    table = finite_function(lambda letter: [int(letter) ** 2, 1], (word, ALPHABET))
    run = interpret(Program(ALPHABET, {"value": table}, FASP_0_RELU), "0342")
    assert run["value"].array.tolist() == [[0, 1], [9, 1], [16, 1], [4, 1]]


def test_a_function_of_two_finite_sets() -> None:
    parity = token({letter: [int(letter) % 2 == 0, int(letter) % 2] for letter in ALPHABET})
    product = finite_function(lambda a, b: [int(a) * (b == "odd")], (word, ALPHABET), (parity, ("even", "odd")))
    run = interpret(Program(ALPHABET, {"value": product}, FASP_0_RELU), "0341")
    assert run["value"].scalars() == [0, 3, 0, 1]
