from collections.abc import Sequence
from functools import reduce
from itertools import islice
from random import Random

import pytest

from pencil.theory.machine import (
    AutoregressiveMachine,
    Configuration,
    Triple,
    autoregressive,
    compute_move,
    configuration,
    embed,
    generate,
    initial,
    space,
    state_function,
    update,
)
from pencil.theory.machines import load, random_machine
from pencil.theory.turing import Answer, TuringMachine, simulate


def random_tokens(machine: TuringMachine, rng: Random, longest: int) -> list[Triple]:
    """Any tokens at all: the properties of a state function hold for every sequence, reachable or not."""
    states = [state for state in machine.states if state not in machine.halting]
    length = rng.randint(0, longest)
    return [Triple(rng.choice(states), rng.choice(machine.symbols), rng.choice((-1, 0, 1))) for _ in range(length)]


def reachable_tokens(machine: TuringMachine, rng: Random) -> tuple[Triple, ...]:
    """An input and some steps after it, before the machine halts."""
    prompt = embed(initial(machine, rng.choices(machine.symbols, k=rng.randint(0, 5))))
    steps = list(islice(generate(autoregressive(machine), prompt), rng.randint(0, 30)))
    return (*prompt, *(step for step in steps if step.state not in machine.halting))


def some_tokens(machine: TuringMachine, rng: Random) -> Sequence[Triple]:
    return reachable_tokens(machine, rng) if rng.random() < 0.5 else random_tokens(machine, rng, 12)


@pytest.mark.parametrize("seed", range(150))
def test_the_state_has_the_same_next_token(seed: int) -> None:
    rng = Random(seed)
    machine = random_machine(rng)
    state, next_token = state_function(machine), autoregressive(machine).next_token
    tokens = some_tokens(machine, rng)
    assert next_token(state(tokens)) == next_token(tokens)


@pytest.mark.parametrize("seed", range(150))
def test_equal_states_stay_equal(seed: int) -> None:
    rng = Random(seed)
    machine = random_machine(rng)
    state = state_function(machine)
    tokens, more = some_tokens(machine, rng), random_tokens(machine, rng, 8)
    assert state((*tokens, *more)) == state((*state(tokens), *more))


@pytest.mark.parametrize("seed", range(150))
def test_the_state_of_a_state_is_itself(seed: int) -> None:
    rng = Random(seed)
    machine = random_machine(rng)
    state = state_function(machine)
    tokens = state(some_tokens(machine, rng))
    assert state(tokens) == tokens


@pytest.mark.parametrize("seed", range(150))
def test_an_embedding_writes_its_configuration_wherever_it_is(seed: int) -> None:
    rng = Random(seed)
    machine = random_machine(rng)
    reached = configuration(machine, reachable_tokens(machine, rng))
    shift = rng.randint(-5, 5)
    moved = Configuration(reached.state, {cell + shift: a for cell, a in reached.tape.items()}, reached.head + shift)
    assert embed(moved) == embed(reached)
    assert embed(configuration(machine, embed(reached))) == embed(reached)


@pytest.mark.parametrize("seed", range(50))
def test_time_and_space_are_those_of_the_turing_machine(seed: int) -> None:
    rng = Random(seed)
    machine = random_machine(rng, max_states=2)
    word = rng.choices(machine.symbols, k=rng.randint(0, 5))
    run = simulate(machine, word, max_steps=200)
    if run.answer is None:
        return
    prompt = embed(initial(machine, word))
    tokens = list(generate(autoregressive(machine), prompt))
    assert len(tokens) == run.steps
    assert machine.answer(tokens[-1].state) == run.answer
    assert space(autoregressive(machine), state_function(machine), prompt) == run.space
    assert run.space <= 2 * len(run.tape) - 1


def test_tokens_lead_where_single_updates_lead() -> None:
    machine = load("bb4")
    tokens = list(generate(autoregressive(machine), ()))
    assert configuration(machine, tokens) == reduce(update, tokens, initial(machine))


def test_an_empty_tape_has_an_empty_embedding() -> None:
    assert embed(initial(load("counter"))) == ()


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        (3, ["q:a:R", "q:b:R", "q:c:R"]),
        (2, ["q:a:R", "q:b:R", "q:c:N"]),
        (1, ["q:a:R", "q:b:R", "q:c:L"]),
        (0, ["q:a:R", "q:b:R", "q:c:L", "q:b:L"]),
        (-1, ["q:a:R", "q:b:R", "q:c:L", "q:b:L", "q:a:L"]),
    ],
)
def test_an_embedding_writes_to_the_right_then_walks_back(head: int, expected: list[str]) -> None:
    assert [str(token) for token in embed(Configuration("q", {0: "a", 1: "b", 2: "c"}, head))] == expected


def test_moves_go_right_until_the_last_cell() -> None:
    assert [compute_move(index, head=5, max_pos=7, min_pos=5) for index in (1, 2, 3, 4)] == [1, 1, -1, -1]


def test_a_machine_need_not_be_a_turing_machine() -> None:
    """Counts modulo three, and accepts the first zero; the last token is all that matters."""

    def answer(written: Sequence[int]) -> Answer | None:
        return "accept" if written and written[-1] == 0 else None

    machine = AutoregressiveMachine(lambda written: (written[-1] + 1) % 3, answer)
    assert list(generate(machine, [7, 1])) == [2, 0]
    assert space(machine, lambda written: tuple(written[-1:]), [7, 1]) == 1
