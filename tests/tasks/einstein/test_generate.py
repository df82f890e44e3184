from collections import Counter
from random import Random

import pytest

from pencil.tasks.einstein import Puzzle
from pencil.tasks.einstein.generate import CONTRADICTORY, random_state, sample
from tests.tasks.einstein.puzzles import models, values


@pytest.mark.parametrize(("size", "count"), [(3, 150), (4, 50), (5, 25)])
def test_a_sampled_puzzle_has_one_solution(size: int, count: int) -> None:
    for seed in range(count):
        assert len(list(models(sample(size, Random(seed))))) == 1


@pytest.mark.parametrize("size", [3, 4, 5])
def test_a_minimal_puzzle_needs_every_clue(size: int) -> None:
    for seed in range(10):
        clues = sample(size, Random(seed), minimal=True).clues
        assert len(list(models(Puzzle(size, clues)))) == 1
        for clue in clues:
            rest = Puzzle(size, tuple(other for other in clues if other is not clue))
            assert sum(1 for _ in zip(range(2), models(rest), strict=False)) == 2


@pytest.mark.parametrize("size", [3, 4])
def test_no_clue_follows_from_those_before_it(size: int) -> None:
    for seed in range(10):
        clues = sample(size, Random(seed)).clues
        for index, clue in enumerate(clues):
            assert any(not clue.holds(found) for found in models(Puzzle(size, clues[:index])))


def test_there_are_fewer_clues_than_values() -> None:
    """Each clue fixes how far two values are apart, so clues that all tell something form a forest."""
    assert all(len(sample(5, Random(seed)).clues) < len(values(5)) for seed in range(50))


def test_the_same_seed_gives_the_same_puzzle() -> None:
    assert sample(5, Random("seed")) == sample(5, Random("seed"))
    assert sample(5, Random("seed")) != sample(5, Random("another seed"))


def test_any_nationality_and_any_house_may_own_the_fish() -> None:
    owners: Counter[str] = Counter()
    houses: Counter[int] = Counter()
    for seed in range(600):
        (solution,) = models(sample(3, Random(seed)))
        houses[solution["Fish"]] += 1
        owners[next(name for name in ("Brit", "German", "Swede") if solution[name] == solution["Fish"])] += 1
    assert min(*owners.values(), *houses.values()) > 150  # 200 each, give or take 4 standard deviations


@pytest.mark.parametrize("size", [3, 4, 5])
def test_a_random_state_leaves_every_cell_something_and_mostly_the_solution(size: int) -> None:
    consistent, forced = 0, 0
    for seed in range(50):
        puzzle = sample(size, Random(seed))
        (solution,) = models(puzzle)
        state = random_state(puzzle, Random(seed))
        assert not state.is_impossible()
        consistent += all(state.can_hold(value, at) for value, at in solution.items())
        places = {value: [at for at in range(size) if state.can_hold(value, at)] for value in solution}
        forced += any(len(at) == 1 and state.has_several(value, at[0]) for value, at in places.items())
    assert 50 * (1 - CONTRADICTORY) - 10 < consistent < 50
    assert forced > 40


def test_the_same_seed_gives_the_same_state() -> None:
    puzzle = sample(4, Random(1))
    assert random_state(puzzle, Random(2)).cells == random_state(puzzle, Random(2)).cells
    assert random_state(puzzle, Random(2)).cells != random_state(puzzle, Random(3)).cells
