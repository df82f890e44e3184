from random import Random

import pytest

from pencil.tasks.einstein.solve import Solution, Solver
from tests.tasks.einstein.puzzles import any_clue, models, odd_puzzle


def in_order(found: list[Solution]) -> list[list[tuple[str, int]]]:
    return sorted(sorted(solution.items()) for solution in found)


@pytest.mark.parametrize(("size", "count"), [(3, 200), (4, 50), (5, 20)])
def test_it_finds_the_solutions_of_a_sat_solver(size: int, count: int) -> None:
    rng = Random(size)
    for _ in range(count):
        puzzle = odd_puzzle(size, rng)
        assert in_order(list(Solver(size, puzzle.clues).solutions())) == in_order(list(models(puzzle)))


def test_solutions_that_break_a_clue_are_all_those_that_do() -> None:
    rng = Random(0)
    for _ in range(100):
        puzzle, clue = odd_puzzle(3, rng), any_clue(3, rng)
        found = list(Solver(3, puzzle.clues).solutions(breaking=clue))
        assert in_order(found) == in_order([solution for solution in models(puzzle) if not clue.holds(solution)])


def test_clues_can_be_added_one_by_one() -> None:
    puzzle = odd_puzzle(4, Random(0))
    solver = Solver(4)
    for clue in puzzle.clues:
        solver.add(clue)
    assert in_order(list(solver.solutions())) == in_order(list(Solver(4, puzzle.clues).solutions()))
