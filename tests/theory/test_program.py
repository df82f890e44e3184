"""Compiled equals interpreted equals simulated: the paper's main theorem, run."""

from collections.abc import Sequence
from itertools import islice
from random import Random

import pytest
import torch

from pencil.rule import Segment, segments
from pencil.theory.compiler import compile_program
from pencil.theory.decode import generate
from pencil.theory.fasp import Program, interpret
from pencil.theory.machines import load, random_machine
from pencil.theory.program import alphabet, turing_program
from pencil.theory.scroll import RuleName, Token, prompt, scroll
from pencil.theory.transformer import HardAttentionTransformer
from pencil.theory.turing import TuringMachine
from pencil.theory.weights import Weights
from pencil.tokens import CALL, RETURN, SEP, WORD_MARKS, Marks

RULES: tuple[RuleName, ...] = ("scroll", "call")


def check_machine(machine: TuringMachine, word: str, rule: RuleName, steps: int, *, thorough: bool = True) -> int:
    """Assert that no token is wrong, in a closed loop and in the longest context; how many were generated."""
    program = turing_program(machine, rule)
    weights = compile_program(program).weights
    start, expected = prompt(machine, word, rule), list(scroll(machine, word, rule, max_steps=steps))
    written = generate(weights, start, WORD_MARKS, scroll=rule == "scroll")
    assert list(islice(written, len(expected))) == expected
    if expected and thorough:
        longest = max(contexts(machine, word, rule, steps), key=lambda segment: len(segment.tokens))
        check_context(program, weights, longest)
    return len(expected)


def contexts(machine: TuringMachine, word: Sequence[str], rule: RuleName, steps: int) -> list[Segment[Token]]:
    """Every context of a run, right before each reduction."""
    start: tuple[Token, ...] = prompt(machine, word, rule)
    marks: Marks[Token] = Marks(CALL, SEP, RETURN)
    return list(segments(start, scroll(machine, word, rule, steps), marks, scroll=rule == "scroll"))


def check_context(program: Program, weights: Weights, segment: Segment[Token]) -> None:
    """The interpreter and the PyTorch module predict each generated token of one context."""
    read = segment.tokens[:-1]
    assert interpret(program, read, exact=False).next_tokens()[segment.start - 1 :] == segment.generated
    tokens = torch.tensor([[program.alphabet.index(token) for token in read]])
    predicted = HardAttentionTransformer(weights)(tokens)[0].argmax(-1).tolist()
    assert [program.alphabet[index] for index in predicted[segment.start - 1 :]] == segment.generated


def check_random(seed: int, steps: int, size: tuple[int, int] = (5, 3), *, thorough: bool = True) -> None:
    rng = Random(seed)
    machine = random_machine(rng, *size)
    word = "".join(rng.choices(machine.symbols, k=rng.randint(0, 6)))
    check_machine(machine, word, RULES[seed % 2], steps, thorough=thorough)


@pytest.mark.parametrize("hundred", range(10))
def test_a_thousand_random_machines(hundred: int) -> None:
    for seed in range(100 * hundred, 100 * hundred + 100):
        check_random(seed, steps=30, size=(3, 2), thorough=seed % 5 < 2)  # both rules among the thorough ones


@pytest.mark.slow
@pytest.mark.parametrize("hundred", range(10, 60))
def test_five_thousand_random_machines(hundred: int) -> None:
    for seed in range(100 * hundred, 100 * hundred + 100):
        check_random(seed, steps=250)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("bb3", ""),
        ("bb4", ""),
        ("counter", "#000"),
        ("palindrome", "abba"),
        ("palindrome", "abab"),
        ("walker", "aaa"),
        ("parity", "1011"),
        ("anbn", "aabb"),
    ],
)
def test_the_library_of_machines_runs_to_the_end(name: str, word: str, rule: RuleName) -> None:
    assert check_machine(load(name), word, rule, steps=10**6) > 0


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("seed", range(4))
def test_every_promise_of_the_program_holds_in_exact_numbers(seed: int, rule: RuleName) -> None:
    rng = Random(seed)
    machine = random_machine(rng)
    word = rng.choices(machine.symbols, k=rng.randint(0, 4))
    program = turing_program(machine, rule)
    for segment in contexts(machine, word, rule, steps=12):
        run = interpret(program, segment.tokens[:-1])
        assert run.next_tokens()[segment.start - 1 :] == segment.generated


@pytest.mark.parametrize("rule", RULES)
def test_the_literal_program_is_deeper_and_computes_the_same(rule: RuleName) -> None:
    machine = load("bb4")
    program = turing_program(machine, rule)
    literal = compile_program(program, fold=False).weights
    assert len(literal.layers) > 5
    for segment in contexts(machine, "", rule, steps=10**6):
        check_context(program, literal, segment)


@pytest.mark.parametrize(("name", "vocabulary", "width", "nonzeros"), [("bb2", 21, 75, 657), ("bb5", 39, 99, 1059)])
def test_sizes_are_no_larger_than_known(name: str, vocabulary: int, width: int, nonzeros: int) -> None:
    report = compile_program(turing_program(load(name))).weights.report()
    assert (report["layers"], report["heads_per_layer"]) == (5, [1, 2, 2, 2, 0])
    assert report["vocabulary"] == vocabulary
    assert report["width"] <= width
    assert report["nonzeros"] <= nonzeros


def test_width_grows_with_the_machine_as_the_formula_says() -> None:
    """d = 2|Q| + 3|A| + V + 31, of which only V is more than linear."""
    for seed in range(10):
        machine = random_machine(Random(seed))
        weights = compile_program(turing_program(machine)).weights
        states, symbols, words = len(machine.states), len(machine.alphabet), len(alphabet(machine))
        assert words == 3 * states * (symbols - 1) + 3
        assert weights.width <= 2 * states + 3 * symbols + words + 31


def test_after_halting_nothing_is_predicted() -> None:
    machine = load("bb2")
    program = turing_program(machine)
    run = interpret(program, [*prompt(machine), *scroll(machine)])
    assert not run.result[-1].any()


@pytest.mark.slow
def test_a_million_steps_of_the_fifth_busy_beaver_through_the_weights() -> None:
    machine = load("bb5")
    weights = compile_program(turing_program(machine)).weights
    written = generate(weights, prompt(machine), WORD_MARKS, scroll=True)
    count = 0
    for expected, found in zip(scroll(machine, max_steps=10**6), written, strict=False):
        assert found == expected
        count += 1
    assert count == 1_995_365
