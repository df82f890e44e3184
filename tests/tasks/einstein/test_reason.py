from collections.abc import Sequence
from random import Random

import pytest

from pencil.tasks.einstein import Clue, Einstein, Puzzle, Relation
from pencil.tasks.einstein.instance import categories, house
from pencil.tokens import join
from pencil.trace import Trace
from tests.tasks.einstein.puzzles import RIDDLE, models, odd_puzzle
from tests.tasks.listings import listing

PRINTED_PROCESS = Puzzle(
    3,
    (
        Clue("Fish", Relation.RIGHT, "Red"),
        Clue("Green", Relation.LEFT, "Red"),
        Clue("Fish", Relation.RIGHT, "Swede"),
        Clue("Brit", Relation.LEFT, "Birds"),
    ),
)
"""The instance whose internal process the paper prints without its prompt."""


def trace_of(text: str) -> Trace[str]:
    task = Einstein()
    return task.trace(task.parse(text))


def stated_solution(response: Sequence[str], size: int) -> dict[str, int]:
    """Value to house, read from a final response."""
    lines = join(response).split("\n")
    house_at = {house(at): at for at in range(size)}
    at, found = 0, {}
    for line in lines:
        words = line.removeprefix("Solution").strip()
        at = house_at.get(words, at)
        if " category is " in words:
            found[words.split(" category is ")[1]] = at
    return found


def test_the_printed_chain_of_thought() -> None:
    trace = trace_of(listing("einstein_cot_prompt"))
    assert join(trace.prompt) == listing("einstein_cot_prompt")
    assert join(trace.generated) == listing("einstein_cot_response")


def test_the_printed_response() -> None:
    trace = trace_of(listing("einstein_pencil_prompt"))
    assert join(trace.prompt) == listing("einstein_pencil_prompt")
    assert join(trace.final) == listing("einstein_pencil_response").strip()


@pytest.mark.parametrize("number", range(1, 13))
def test_the_printed_generations_and_reductions(number: int) -> None:
    trace = Einstein().trace(PRINTED_PROCESS)
    step = list(trace.steps())[number - 1]
    assert join(step.before.tokens[len(trace.prompt) :]) == listing(f"einstein_generation_{number:02d}").strip()
    assert join(step.after[len(trace.prompt) :]) == listing(f"einstein_reduction_{number:02d}").strip()


def test_the_printed_process_ends_with_its_final_response() -> None:
    trace = Einstein().trace(PRINTED_PROCESS)
    assert len(list(trace.steps())) == 13
    assert join(trace.final) == listing("einstein_final").strip()


def test_the_original_riddle() -> None:
    trace = trace_of(RIDDLE)
    assert join(trace.final).endswith("=> House#4 owns the Fish\n => the German owns the Fish <|endoftext|>")
    assert trace.stats().peak < 2048


def test_positions_and_neighbors_are_reasoned_in_the_papers_manner() -> None:
    text = join(trace_of("The Brit lives in the first house. The Brit lives next to the blue house.").generated)
    assert (
        "PHASE 2: Handling relation Brit POSITION House#1\n"
        " Brit must be in House#1\n"
        " Placing Brit in House#1 because Brit must be in House#1\n"
        " Removing Brit from House#2 because Brit must be in House#1\n"
        " Removing Brit from House#3 because Brit must be in House#1\n"
    ) in text
    assert (
        "PHASE 2: Handling relation Brit NEXT Blue\n"
        " Brit must be NEXT to Blue\n"
        " Since Brit is pinned to House#1 , removing Blue from House#1 because Blue must be next to House#1\n"
        " Placing Blue in House#2 because Brit is pinned to House#1\n"
        " Since Brit is pinned to House#1 , removing Blue from House#3 because Blue must be next to House#1\n"
    ) in text


@pytest.mark.parametrize(
    "text",
    [
        "The Brit lives in the red house. The Brit lives in the green house.",
        "The Brit is the Swede.",
        "The Brit lives in the first house. The Swede lives in the first house.",
        "The Brit lives to the left of the Swede. The Swede lives to the left of the Brit.",
        "The Brit lives next to the red house. The Brit lives in the red house.",
    ],
)
def test_a_contradiction_is_an_answer(text: str) -> None:
    assert join(trace_of(text).final) == "No Solution <|endoftext|>"


@pytest.mark.parametrize(("size", "count"), [(3, 400), (4, 60), (5, 8)])
def test_the_verdict_is_a_sat_solvers(size: int, count: int) -> None:
    task, rng = Einstein(size), Random(size)
    solvable = []
    for _ in range(count):
        puzzle = odd_puzzle(size, rng)
        response = task.trace(puzzle).final
        assert (task.answer(response) == "No Solution") == (next(models(puzzle), None) is None)
        solvable.append(task.answer(response) != "No Solution")
        if solvable[-1]:
            found = stated_solution(response, size)
            assert all(sorted(found[value] for value in kind.values) == list(range(size)) for kind in categories(size))
            assert all(clue.holds(found) for clue in puzzle.clues)
            assert found["Fish"] == found[task.answer(response) or ""]
    assert {True, False} <= set(solvable)


def test_tail_recursion_shortens_the_context_and_changes_no_answer() -> None:
    with_it, without = Einstein(4), Einstein(4, tail_recursion=False)
    for index in range(5):
        puzzle = with_it.draw(0, index)
        short, long = with_it.trace(puzzle), without.trace(puzzle)
        assert short.final == long.final
        assert short.stats().peak < long.stats().peak
