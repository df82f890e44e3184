import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from pencil.theory.compiler import compile_program
from pencil.theory.decode import RunningDecoder
from pencil.theory.decompile import decompile
from pencil.theory.fasp import interpret
from pencil.theory.transformer import HardAttentionTransformer
from tests.theory.programs import CASES
from tests.theory.random_weights import random_weights


@given(st.integers(0, 10**6), st.text("abc", min_size=1, max_size=2))
@settings(max_examples=60, deadline=None)
def test_a_random_transformer_is_a_program(seed: int, word: str) -> None:
    """Averages of two are exact in floating point, so that ties are ties; longer inputs are in test_decode.py."""
    weights = random_weights(seed)
    plain = HardAttentionTransformer(weights)(torch.tensor([["abc".index(letter) for letter in word]]))[0]
    assert interpret(decompile(weights), word).result.tolist() == plain.tolist()


@given(st.integers(0, 10**6), st.text("abc", min_size=1, max_size=8))
@settings(max_examples=20, deadline=None)
def test_there_and_back_again_is_the_same_function(seed: int, word: str) -> None:
    weights = random_weights(seed)
    there, back = RunningDecoder(weights), RunningDecoder(compile_program(decompile(weights)).weights)
    for letter in word:
        assert there.outputs(["abc".index(letter)]) == back.outputs(["abc".index(letter)])


def test_compiled_programs_come_back_as_programs_with_the_same_values() -> None:
    for case in CASES:
        program = decompile(compile_program(case.program).weights)
        assert interpret(program, case.word)["output"].scalars() == case.expected
