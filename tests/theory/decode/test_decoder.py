"""The running decoder equals the plain path, token for token and number for number."""

from fractions import Fraction
from itertools import islice

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pencil.theory.compiler import compile_program
from pencil.theory.decode import RunningDecoder, generate
from pencil.theory.decompile import decompile
from pencil.theory.fasp import Program, interpret
from pencil.theory.fasp.library import average
from pencil.theory.machines import load
from pencil.theory.program import turing_program
from pencil.theory.scroll import prompt, scroll
from pencil.tokens import WORD_MARKS
from tests.theory.programs import ALPHABET, digit
from tests.theory.random_weights import random_weights


@given(st.integers(0, 10**6), st.lists(st.integers(0, 2), min_size=1, max_size=8))
@example(772455, [0])  # a coordinate that the position and a layer both write to
@settings(max_examples=60, deadline=None)
def test_random_weights_give_exactly_the_numbers_of_their_program(seed: int, tokens: list[int]) -> None:
    weights = random_weights(seed)
    decoder = RunningDecoder(weights)
    expected = interpret(decompile(weights), ["abc"[token] for token in tokens]).result
    assert [decoder.outputs([token]) for token in tokens] == expected.tolist()


def test_a_prompt_at_once_equals_a_prompt_token_by_token() -> None:
    machine = load("bb4")
    weights = compile_program(turing_program(machine)).weights
    tokens = [weights.alphabet.index(token) for token in islice(scroll(machine), 30)]
    by_one, at_once = RunningDecoder(weights), RunningDecoder(weights)
    expected = [by_one.outputs([token]) for token in tokens]
    assert at_once.outputs(tokens[:20]) == expected[19]
    assert at_once.outputs(tokens[20:]) == expected[-1]
    at_once.restart()
    assert at_once.outputs(tokens[:7]) == expected[6]


def test_numbers_are_exact() -> None:
    decoder = RunningDecoder(compile_program(Program(ALPHABET, {"mean": average(digit)})).weights)
    assert [decoder.outputs([token]) for token in (1, 0, 0)] == [[1], [Fraction(1, 2)], [Fraction(1, 3)]]


def test_a_program_without_layers_runs() -> None:
    program = Program(ALPHABET, {"twice": 2 * digit})
    decoder = RunningDecoder(compile_program(program).weights)
    assert decoder.outputs([3]) == interpret(program, "3").result[0].tolist() == [6]


@pytest.mark.parametrize("name", ["bb4", "counter"])
def test_generation_follows_the_trace(name: str) -> None:
    machine, word = load(name), "#00" if name == "counter" else ""
    weights = compile_program(turing_program(machine)).weights
    expected = list(scroll(machine, word))
    written = generate(weights, prompt(machine, word), WORD_MARKS, scroll=True)
    assert list(islice(written, len(expected))) == expected
