from collections.abc import Callable
from dataclasses import replace
from itertools import product
from random import Random

import pytest

from pencil.errors import MachineError
from pencil.theory.machines import load, random_machine
from pencil.theory.turing import Simulation, Triple, TuringMachine, complete, simulate


def step_by_step(machine: TuringMachine, word: str, max_steps: int) -> tuple[str, int, dict[int, str], int]:
    """The definition, read literally."""
    tape, head, state, steps = dict(enumerate(word)), len(word), machine.start, 0
    while state not in machine.halting and steps < max_steps:
        state, written, move = machine.delta[state, tape.get(head, machine.blank)]
        tape[head] = written
        head += move
        steps += 1
    return state, steps, tape, head


@pytest.mark.parametrize("seed", range(200))
def test_the_simulator_follows_the_definition(seed: int) -> None:
    rng = Random(seed)
    machine = random_machine(rng)
    word = "".join(rng.choices(machine.symbols, k=rng.randint(0, 6)))
    run = simulate(machine, word, max_steps=500)
    state, steps, tape, head = step_by_step(machine, word, 500)
    assert (run.state, run.steps, run.head) == (state, steps, head)
    assert run.tape == tuple(tape[cell] for cell in sorted(tape))


def test_any_division_into_steps_gives_the_same_run() -> None:
    machine, rng = load("bb5"), Random(0)
    simulation = Simulation(machine)
    while simulation.steps < 20_000:
        simulation.advance(min(rng.choice((1, 7, 900)), 20_000 - simulation.steps))
    assert simulation.result() == simulate(machine, max_steps=20_000)


@pytest.mark.parametrize(("name", "steps", "ones"), [("bb2", 6, 4), ("bb3", 21, 5), ("bb4", 107, 13)])
def test_busy_beavers_halt_after_their_known_steps(name: str, steps: int, ones: int) -> None:
    run = simulate(load(name))
    assert (run.answer, run.steps, run.tape.count("1")) == ("accept", steps, ones)


def test_the_fifth_busy_beaver_writes_its_known_cells() -> None:
    run = simulate(load("bb5"), max_steps=10**6)
    assert (run.answer, run.steps, len(run.tape)) == (None, 10**6, 2001)


@pytest.mark.slow
def test_the_fifth_busy_beaver_halts() -> None:
    run = simulate(load("bb5"))
    assert (run.answer, run.steps, run.tape.count("1")) == ("accept", 47_176_870, 4098)


@pytest.mark.parametrize("n", range(1, 13))
def test_the_counter_takes_exponential_time(n: int) -> None:
    run = simulate(load("counter"), "#" + "0" * n)
    assert (run.answer, run.steps, len(run.tape)) == ("accept", 2 ** (n + 2) - n - 2, n + 2)


@pytest.mark.parametrize("n", range(12))
def test_the_walker_takes_quadratic_time(n: int) -> None:
    assert simulate(load("walker"), "a" * n).steps == 3 * n * n + 2 * n + 2


def is_anbn(word: str) -> bool:
    return word == "a" * (len(word) // 2) + "b" * (len(word) // 2)


@pytest.mark.parametrize(
    ("name", "letters", "language"),
    [
        ("palindrome", "ab", lambda word: word == word[::-1]),
        ("anbn", "ab", is_anbn),
        ("parity", "01", lambda word: word.count("1") % 2 == 0),
    ],
)
def test_a_machine_decides_its_language(name: str, letters: str, language: Callable[[str], bool]) -> None:
    machine = load(name)
    for length in range(9):
        for word in map("".join, product(letters, repeat=length)):
            assert simulate(machine, word).answer == ("accept" if language(word) else "reject"), word


def test_addition_joins_two_numbers() -> None:
    for left, right in product(range(6), repeat=2):
        run = simulate(load("addition"), "1" * left + "+" + "1" * right)
        assert run.answer == "accept"
        assert "".join(run.tape).rstrip("0") == "1" * (left + right)


def test_a_word_outside_of_the_language_of_addition_is_rejected() -> None:
    assert simulate(load("addition"), "11").answer == "reject"


def test_a_start_that_halts_takes_no_step() -> None:
    run = simulate(replace(load("bb2"), start="H"), "0")
    assert (run.answer, run.steps, run.space, run.tape) == ("accept", 0, 1, ("0",))


def test_the_limit_leaves_the_answer_open() -> None:
    assert simulate(load("bb4"), max_steps=106).answer is None
    assert simulate(load("bb4"), max_steps=107).answer == "accept"


def test_progress_is_reported_up_to_the_end() -> None:
    seen: list[int] = []
    simulate(load("bb4"), on_progress=seen.append)
    assert seen[-1] == 107


def test_a_missing_rule_rejects_and_keeps_the_symbol() -> None:
    total = complete({("q", "a"): ("q", "b", 1)}, ("q",), ("_", "a", "b"), "no")
    assert total == {("q", "a"): ("q", "b", 1), ("q", "_"): ("no", "a", 0), ("q", "b"): ("no", "b", 0)}


def test_all_problems_of_a_machine_are_listed() -> None:
    rules = {("q", "_"): ("q", "_", 0), ("q", "a"): ("r", "b", 2), ("h", "a"): ("h", "a", 0)}
    with pytest.raises(MachineError) as error:
        TuringMachine("bad", ("q", "h", "h"), ("a", "c"), "_", "s", ("h",), ("h",), rules)
    assert error.value.problems == (
        ("states", "'h' is declared twice"),
        ("start", "the state 's' is unknown"),
        ("reject", "the state 'h' accepts too"),
        ("rule q _", "it writes a blank, which no machine may; write a symbol that stands for it"),
        ("rule q a", "the state 'r' is unknown"),
        ("rule q a", "the symbol 'b' is unknown"),
        ("rule q a", "the move is 2, expected -1, 0 or 1"),
        ("rule h a", "the state 'h' halts, so no rule may leave it"),
        ("rules", "there is no rule for state 'q' reading 'c', expected one for every pair"),
    )


def test_a_blank_is_no_symbol() -> None:
    with pytest.raises(MachineError, match="blank: '_' is also declared as a symbol"):
        replace(load("bb2"), symbols=("0", "1", "_"))


def test_an_input_holds_symbols_only() -> None:
    with pytest.raises(MachineError, match=r"parity: symbol 2 of the input: found '_', expected one of 0 1 \$"):
        simulate(load("parity"), "1_")


def test_machines_can_be_keys() -> None:
    assert {load("bb2"): 1}[load("bb2")] == 1


def test_a_triple_prints_its_move_as_a_letter() -> None:
    assert [str(Triple("q", "a", move)) for move in (-1, 0, 1)] == ["q:a:L", "q:a:N", "q:a:R"]
