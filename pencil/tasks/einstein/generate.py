"""Random puzzles with exactly one solution.

>>> puzzle = sample(3, Random(0))
>>> len(list(Solver(3, puzzle.clues).solutions()))
1
"""

from itertools import combinations
from random import Random

from pencil.tasks.einstein.instance import OFFSETS, Clue, Puzzle, Relation, categories
from pencil.tasks.einstein.solve import Solution, Solver
from pencil.tasks.einstein.state import Layout, State

RELATIONS = (Relation.SAME, Relation.LEFT, Relation.RIGHT)
"""The relations of the paper's puzzles."""
CONTRADICTORY = 0.2
"""How many random states rule out something that is true."""
SINGLED_OUT = 0.5
"""In how many categories of a random state some value can be in one house only, which may be able to hold others."""


def sample(size: int, rng: Random, minimal: bool = False) -> Puzzle:
    """Fill the houses at random, then give true clues that each rule something out, until nothing else is left.

    A clue may become redundant through later ones; a minimal puzzle has no such clue.
    """
    solution = _random_solution(size, rng)
    clues = _telling_clues(size, solution, _random_facts(solution, rng))
    return Puzzle(size, tuple(_without_redundant(size, clues) if minimal else clues))


def random_state(puzzle: Puzzle, rng: Random) -> State:
    """What is possible when other values than those of the solution are ruled out at random.

    Deductions seldom leave a value that only one house can hold, or one that is certain and not yet removed elsewhere.
    """
    solution = next(Solver(puzzle.size, puzzle.clues).solutions())
    state = State(Layout.of(puzzle.size))
    for category in state.layout.categories:
        share = rng.random()
        for value in category.values:
            for at in range(puzzle.size):
                if at != solution[value] and rng.random() < share:
                    state.remove(value, at)
        if rng.random() < SINGLED_OUT:
            value = rng.choice(category.values)
            for at in set(range(puzzle.size)) - {solution[value]}:
                state.remove(value, at)
    open_values = [value for value, at in solution.items() if state.has_several(value, at)]
    if open_values and rng.random() < CONTRADICTORY:
        value = rng.choice(open_values)
        state.remove(value, solution[value])
    return state


def _random_solution(size: int, rng: Random) -> Solution:
    return {
        value: at
        for category in categories(size)
        for value, at in zip(category.values, rng.sample(range(size), size), strict=True)
    }


def _random_facts(solution: Solution, rng: Random) -> list[Clue]:
    """Every true clue once, in random order, with either value first."""
    facts = []
    for pair in combinations(solution, 2):
        first, second = rng.sample(pair, 2)
        for relation in RELATIONS:
            if solution[first] - solution[second] in OFFSETS[relation]:
                facts.append(Clue(first, relation, second))
    rng.shuffle(facts)
    return facts


def _telling_clues(size: int, solution: Solution, facts: list[Clue]) -> list[Clue]:
    """Take each fact that the ones before it do not imply, until they leave one solution."""
    solver, clues = Solver(size), list[Clue]()
    rival = _other_solution(solver, solution)
    for fact in facts:
        if rival is None:
            break
        if not fact.holds(rival) or _allows_breaking(solver, fact):
            clues.append(fact)
            solver.add(fact)
            rival = rival if fact.holds(rival) else _other_solution(solver, solution)
    return clues


def _other_solution(solver: Solver, solution: Solution) -> Solution | None:
    return next((found for found in solver.solutions() if found != solution), None)


def _allows_breaking(solver: Solver, fact: Clue) -> bool:
    return next(solver.solutions(breaking=fact), None) is not None


def _without_redundant(size: int, clues: list[Clue]) -> list[Clue]:
    """Drop each clue that the others imply."""
    kept = list(clues)
    for clue in clues:
        rest = [other for other in kept if other is not clue]
        if not _allows_breaking(Solver(size, rest), clue):
            kept = rest
    return kept
