import numpy as np
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

inputs = st.text("abc", min_size=1, max_size=8)


@given(st.integers(0, 10**6), inputs)
@settings(max_examples=40, deadline=None)
def test_a_random_transformer_is_a_program(seed: int, word: str) -> None:
    weights = random_weights(seed)
    plain = HardAttentionTransformer(weights)(torch.tensor([["abc".index(letter) for letter in word]]))[0].numpy()
    exact = interpret(decompile(weights), word).result
    assert np.allclose(exact.astype(float), plain, rtol=1e-9, atol=1e-9)


@given(st.integers(0, 10**6), inputs)
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
