from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings

from pencil.theory.fasp import FaspError, Kind, Program, interpret
from pencil.theory.fasp.expr import Ties, attend, seq_len, token
from pencil.theory.fasp.library import average, promise, seq_sum
from tests.theory.programs import ALPHABET, CASES, Case, digit, programs, words


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_value_at_every_prefix(case: Case) -> None:
    assert interpret(case.program, case.word)["value"].scalars() == case.expected


@given(programs(), words)
@settings(max_examples=60, deadline=None)
def test_floats_agree_with_fractions(program: Program, word: str) -> None:
    exact = interpret(program, word).result.astype(float)
    assert np.allclose(interpret(program, word, exact=False).result, exact, atol=1e-6)


def test_averages_are_exact_fractions() -> None:
    run = interpret(Program(ALPHABET, {"value": average(digit)}), "100")
    assert run["value"].scalars() == [1, Fraction(1, 2), Fraction(1, 3)]


def test_a_broken_promise_of_type_names_its_place() -> None:
    program = Program(ALPHABET, {"value": promise(digit, Kind.BOOL)})
    with pytest.raises(FaspError, match=r"promised to be bool, found \['3'\] at position 3"):
        interpret(program, "013")
    assert interpret(program, "013", exact=False).result.ravel().tolist() == [0, 1, 3]


@pytest.mark.parametrize("ties", [Ties.EQUAL, Ties.UNIQUE])
def test_a_broken_promise_about_ties_names_its_place(ties: Ties) -> None:
    with pytest.raises(FaspError, match="not so at position 2"):
        interpret(Program(ALPHABET, {"value": attend(1, 1, 2 * seq_len, ties)}), "00")


def test_an_unknown_token_and_an_empty_input_are_errors() -> None:
    program = Program(ALPHABET, {"value": digit})
    with pytest.raises(FaspError, match="among 0 1 2 3 4; found x y"):
        interpret(program, "0x1yx")
    with pytest.raises(FaspError, match="found nothing"):
        interpret(program, "")


def test_next_tokens_are_the_largest_coordinates() -> None:
    flip = token({"a": [0, 1], "b": [1, 0]})
    assert interpret(Program("ab", {"flip": flip}), "abb").next_tokens() == ["b", "a", "a"]


def test_every_named_value_can_be_asked_for() -> None:
    total = seq_sum(digit)
    run = interpret(Program(ALPHABET, {"digit": digit, "total": total}), "123")
    assert (run["digit"].scalars(), run["total"].scalars()) == ([1, 2, 3], [1, 3, 6])
    assert run.of(total).scalars() == [1, 3, 6]
