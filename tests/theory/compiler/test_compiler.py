"""Compiled equals interpreted: the law of the compiler, on the shared table and on random programs."""

import numpy as np
import numpy.typing as npt
import pytest
import torch
from hypothesis import given, settings

from pencil.theory.compiler import compile_program
from pencil.theory.decode import RunningDecoder
from pencil.theory.fasp import Program, interpret
from pencil.theory.transformer import HardAttentionTransformer
from tests.theory.programs import CASES, Case, programs, words


def by_module(program: Program, word: str, *, fold: bool = True) -> npt.NDArray[np.float64]:
    """(n, o): the outputs of the compiled transformer in floating point."""
    model = HardAttentionTransformer(compile_program(program, fold=fold).weights)
    tokens = torch.tensor([[program.alphabet.index(letter) for letter in word]])
    outputs: npt.NDArray[np.float64] = model(tokens)[0].numpy()
    return outputs


def by_decoder(program: Program, word: str) -> list[list[object]]:
    """The same by the decoder with running state, in exact numbers."""
    decoder = RunningDecoder(compile_program(program).weights)
    return [list(decoder.outputs([program.alphabet.index(letter)])) for letter in word]


@pytest.mark.parametrize("fold", [True, False])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_compiled_case_gives_its_values(case: Case, fold: bool) -> None:
    assert by_module(case.program, case.word, fold=fold)[:, 0] == pytest.approx(case.expected)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_running_decoder_gives_exactly_its_values(case: Case) -> None:
    assert by_decoder(case.program, case.word) == [[value] for value in case.expected]


@given(programs(), words)
@settings(max_examples=60, deadline=None)
def test_a_random_program_compiles_to_the_same_function(program: Program, word: str) -> None:
    expected = interpret(program, word).result
    assert by_decoder(program, word) == expected.tolist()
    compiled = compile_program(program)
    if compiled.exact_length() >= len(word):
        assert np.allclose(by_module(program, word), expected.astype(float))


@pytest.mark.slow
@given(programs(), words)
@settings(max_examples=2000, deadline=None)
def test_many_random_programs_compile_to_the_same_function(program: Program, word: str) -> None:
    expected = interpret(program, word).result
    assert by_decoder(program, word) == expected.tolist()
    assert np.allclose(by_module(program, word, fold=False), by_module(program, word))
