import tracemalloc
from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain, islice, pairwise, repeat
from random import Random

import pytest

from pencil.rule import replay
from pencil.theory.machine import AutoregressiveMachine, autoregressive, embed, initial, state_function
from pencil.theory.machines import load, random_machine
from pencil.theory.scroll import BOS, Measured, RuleName, Token, define_scroll, measure_run, prompt, scroll
from pencil.theory.turing import Answer, TuringMachine, simulate
from pencil.tokens import CALL, RETURN, SEP

RULES: tuple[RuleName, ...] = ("scroll", "call")


@pytest.mark.parametrize(
    ("name", "word", "expected"),
    [
        ("bb3", "", Measured("accept", 21, 41, 4, 15)),
        ("bb4", "", Measured("accept", 107, 199, 8, 66)),
        ("counter", "#" + "0" * 8, Measured("accept", 1014, 2169, 95, 40)),
        ("counter", "#" + "0" * 16, Measured("accept", 262126, 550074, 14271, 84)),
        ("walker", "a" * 16, Measured("accept", 802, 1574, 22, 155)),
        ("palindrome", "abba", Measured("accept", 16, 24, 1, 21)),
        ("palindrome", "abab", Measured("reject", 7, 7, 0, 11)),
    ],
)
def test_known_runs_have_their_known_sizes(name: str, word: str, expected: Measured) -> None:
    machine = load(name)
    assert measure_run(machine, word, scroll(machine, word)) == expected


def test_a_million_steps_of_the_fifth_busy_beaver() -> None:
    machine = load("bb5")
    run = measure_run(machine, "", scroll(machine, max_steps=10**6))
    assert (run.answer, run.steps, run.tokens, run.peak) == (None, 10**6, 1_995_365, 10_904)


def random_run(seed: int) -> tuple[TuringMachine, list[str]]:
    rng = Random(seed)
    machine = random_machine(rng)
    return machine, rng.choices(machine.symbols, k=rng.randint(0, 6))


def check_bounds(seed: int, rule: RuleName) -> None:
    """tokens <= 2T + 2I <= 4T and context <= 3S + 2 <= 6W - 1; `[BOS]` and each `[CALL]` add one."""
    machine, word = random_run(seed)
    run = simulate(machine, word, max_steps=400)
    measured = measure_run(machine, word, scroll(machine, word, rule, max_steps=400), rule)
    marks = 2 if rule == "scroll" else 3
    opening = 2 if rule == "call" else (not word)
    assert (measured.answer, measured.steps) == (run.answer, run.steps)
    assert measured.tokens <= 2 * run.steps + marks * measured.reductions <= (2 + marks) * run.steps
    assert measured.peak - opening <= 3 * run.space + 2 <= 6 * len(run.tape) - 1


@pytest.mark.parametrize("rule", RULES)
def test_time_and_context_stay_within_their_bounds(rule: RuleName) -> None:
    for seed in range(2_500):
        check_bounds(seed, rule)


@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES)
def test_time_and_context_stay_within_their_bounds_on_many_machines(rule: RuleName) -> None:
    for seed in range(2_500, 25_000):
        check_bounds(seed, rule)


@pytest.mark.parametrize("rule", RULES)
def test_the_stream_equals_the_definition(rule: RuleName) -> None:
    for seed in range(400):
        machine, word = random_run(seed)
        defined = define_scroll(autoregressive(machine), state_function(machine), embed(initial(machine, word)), rule)
        assert list(islice(scroll(machine, word, rule), 120)) == list(islice(defined, 120)), seed


@pytest.mark.parametrize("rule", RULES)
def test_each_reduction_leaves_the_state(rule: RuleName) -> None:
    machine, word = load("counter"), "#000"
    opening = (CALL,) if rule == "call" else ()
    state = state_function(machine)
    steps = list(replay(prompt(machine, word, rule), scroll(machine, word, rule), scroll=rule == "scroll"))
    assert len(steps) > 3
    for step in steps[:-1]:
        assert step.reduction is not None
        thought = [token for token in step.reduction.thought if not isinstance(token, str)]
        assert tuple(step.after) == (*opening, *state(thought))
        assert 2 * len(state(thought)) <= len(thought)


def test_the_call_rule_repeats_its_mark_after_each_sep() -> None:
    tokens = list(scroll(load("bb4"), rule="call"))
    after_sep = {following for token, following in pairwise(tokens) if token == SEP}
    assert after_sep == {CALL}
    assert [token for token in tokens if token != CALL] == list(scroll(load("bb4")))


@pytest.mark.parametrize(
    ("word", "rule", "opening"),
    [("", "scroll", (BOS,)), ("", "call", (CALL,)), ("1", "scroll", ()), ("1", "call", (CALL,))],
)
def test_a_prompt_is_never_empty(word: str, rule: RuleName, opening: tuple[Token, ...]) -> None:
    machine = load("parity")
    assert prompt(machine, word, rule) == (*opening, *embed(initial(machine, word)))


def test_the_halting_token_comes_before_any_summary() -> None:
    for seed in range(300):
        machine, word = random_run(seed)
        if simulate(machine, word, max_steps=400).answer is None:
            continue
        *before, last = scroll(machine, word)
        assert not isinstance(last, str)
        assert last.state in machine.halting
        assert not any(token.state in machine.halting for token in before if not isinstance(token, str))


def test_a_start_that_halts_writes_nothing() -> None:
    machine = replace(load("bb2"), start="H")
    assert list(scroll(machine, "01")) == []


def test_the_limit_counts_steps_of_the_machine() -> None:
    machine = load("bb4")
    assert measure_run(machine, "", scroll(machine, max_steps=50)).steps == 50


def test_reading_stops_where_an_endless_model_has_halted_the_machine() -> None:
    machine = load("bb3")
    endless = chain(scroll(machine), repeat(SEP))
    assert measure_run(machine, "", endless) == measure_run(machine, "", scroll(machine))
    assert next(endless) == SEP


def test_reading_stops_before_one_step_too_many() -> None:
    machine = load("bb4")
    limited = measure_run(machine, "", scroll(machine, max_steps=50))
    assert measure_run(machine, "", scroll(machine), max_steps=50) == limited


def test_a_start_that_halts_reads_nothing() -> None:
    machine = replace(load("bb2"), start="H")
    assert measure_run(machine, "01", repeat(SEP)) == Measured("accept", 0, 0, 0, 2)


def test_any_machine_with_a_state_function_scrolls() -> None:
    """Counts down to zero; the state is the last number alone."""

    def answer(written: Sequence[int]) -> Answer | None:
        return "accept" if written[-1] == 0 else None

    machine = AutoregressiveMachine(lambda written: written[-1] - 1, answer)
    tokens = define_scroll(machine, lambda written: tuple(written[-1:]), [3])
    assert list(tokens) == [2, SEP, 2, RETURN, 1, SEP, 1, RETURN, 0]


def memory_of(n: int) -> int:
    """Bytes at most in use while a counter of n digits runs."""
    machine, word = load("counter"), "#" + "0" * n
    tracemalloc.start()
    deque(scroll(machine, word), maxlen=0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def test_a_long_run_holds_its_tape_only() -> None:
    """The longer run writes 64 times as many tokens, on a tape that is a half longer."""
    assert memory_of(16) < 2 * memory_of(10)
