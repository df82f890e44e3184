import pytest
import torch

from pencil.theory.compiler import compile_program
from pencil.theory.compiler.precision import LONGEST
from pencil.theory.fasp import FASP_FIRST, Program, interpret
from pencil.theory.fasp.expr import aha, seq_len
from pencil.theory.fasp.library import average, rha, rha_by_inverse, rightmost_best_match, seq_max, seq_sum
from pencil.theory.fasp.program import FASP_N, Variant
from pencil.theory.transformer import HardAttentionTransformer
from tests.theory.programs import ALPHABET, digit, odd


def exact(value: object, dtype: str, variant: Variant = FASP_N) -> int:
    program = Program(ALPHABET, {"value": value}, variant)  # type: ignore[dict-item]
    return compile_program(program).exact_length(dtype)  # type: ignore[arg-type]


def test_integers_are_exact_as_long_as_they_fit() -> None:
    assert exact(digit + seq_len, "float64") == LONGEST
    assert 2**23 <= exact(digit + seq_len, "float32") < 2**24
    assert exact(seq_max(digit), "float64") == LONGEST


def test_each_power_of_the_length_in_a_score_costs_its_share_of_the_bits() -> None:
    linear = exact(rha(1, odd, digit), "float32")
    cubic = exact(rightmost_best_match(seq_len - 1, seq_len, digit), "float32")
    assert 2**22 < linear < 2**24
    assert 2**6 < cubic < 2**8


def test_the_inverse_tie_break_is_worse_than_the_integer_one() -> None:
    inverse = exact(rha_by_inverse(1, odd, digit), "float32", FASP_FIRST)
    assert 100 < inverse < 5000 < exact(rha(1, odd, digit), "float32")


def test_a_true_average_over_rounded_scores_is_never_proven() -> None:
    assert exact(aha(1, average(digit), seq_len), "float64") == 0
    assert exact(aha(digit, odd, seq_len), "float64") > 2**20


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_what_is_proven_exact_is_exact(dtype: str) -> None:
    """A long input whose sums are the hardest to keep apart, right at the proven limit."""
    value = rightmost_best_match(seq_sum(odd) - 1, seq_sum(odd), seq_len)
    compiled = compile_program(Program(ALPHABET, {"value": value}))
    length = min(compiled.exact_length(dtype), 600)  # type: ignore[arg-type]
    assert length > 10
    word = ("11100" * length)[:length]
    model = HardAttentionTransformer(compiled.weights, dtype=dtype)  # type: ignore[arg-type]
    found = model(torch.tensor([[int(letter) for letter in word]]))[0, :, 0].round().tolist()
    expected = interpret(Program(ALPHABET, {"value": value}), word[:60])["value"].scalars()
    assert found[:60] == expected[: len(found)]
    assert found[-1] == _last_before(word)


def _last_before(word: str) -> int:
    """The last prefix with one odd digit less than the whole word."""
    total = word.count("1") + word.count("3")
    return max(end for end in range(1, len(word) + 1) if sum(letter in "13" for letter in word[:end]) == total - 1)
