import pytest

from pencil.theory.fasp import FASP_0, FASP_0_RELU, FASP_N, FASP_N_REGLU, FaspError, Program, Variant
from pencil.theory.fasp.expr import Expr, aha, concat, constant, linear, seq_len, token
from pencil.theory.fasp.library import average, both, equal, if_then_else, kron, leq, seq_or, seq_sum
from tests.theory.programs import ALPHABET, digit, odd, word


def problems(value: Expr) -> tuple[str, ...]:
    with pytest.raises(FaspError) as caught:
        Program(ALPHABET, {"value": value})
    return caught.value.problems


def test_every_problem_is_listed_with_its_place() -> None:
    wrong = both(leq(average(digit), 1), digit)
    wrong_too = if_then_else(digit, word, concat(odd, odd))
    found = problems(concat(wrong, wrong_too))
    assert len(found) == 3
    assert all("test_program.py:" in problem for problem in found)
    assert "leq found (real, bool), expected (int[d], int[d])" in found[0]
    assert "both found (bool, int), expected (bool[d], bool[d]...)" in found[1]
    assert "if_then_else found (int, one-hot[5], bool[2]), expected (bool, any[d], any[d])" in found[2]


def test_one_mistake_is_reported_once() -> None:
    wrong = seq_or(digit)
    assert len(problems((wrong & odd) | kron(word, word)[wrong.dim])) == 1


def test_primitives_check_their_dimensions() -> None:
    assert "aha found (bool, int[2], int)" in problems(aha(1, concat(digit, digit), digit))[0]
    assert "linear reads coordinate 7" in problems(linear([[(7, 1)]], word))[0]
    assert "token needs vectors of one dimension" in problems(token({"0": [1, 2], "1": 3}))[0]


def test_a_token_without_a_value_is_a_problem() -> None:
    assert problems(token({"0": 1})) == ("token has no value for 1 2 3 4 and no default",)
    Program(ALPHABET, {"value": token({"0": 1}, default=0)})


@pytest.mark.parametrize(
    ("variant", "problem"),
    [
        (FASP_0_RELU, "the activation x is used, which FASP[0; ReLU] does not have"),
        (FASP_0, "the position n is used, which FASP[0; ReLU, x] does not have"),
        (FASP_N_REGLU, "the activation x is used, which FASP[n; ReGLU] does not have"),
    ],
)
def test_a_variant_has_only_its_own_primitives(variant: Variant, problem: str) -> None:
    total = seq_sum(digit)
    Program(ALPHABET, {"value": total}, FASP_N)
    with pytest.raises(FaspError) as caught:
        Program(ALPHABET, {"value": total}, variant)
    assert problem in caught.value.problems


def test_an_empty_program_and_a_double_token_are_problems() -> None:
    with pytest.raises(FaspError, match="at least one value"):
        Program("ab", {})
    with pytest.raises(FaspError, match="lists a token twice"):
        Program("aba", {"value": seq_len})


def test_a_program_predicts_tokens_if_its_result_has_one_coordinate_for_each() -> None:
    assert Program(ALPHABET, {"value": word}).predicts_tokens
    assert not Program(ALPHABET, {"value": equal(digit, 1)}).predicts_tokens
    assert Program(ALPHABET, {"value": word, "last": constant(1)}).result.dim == 1
