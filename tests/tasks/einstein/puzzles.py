"""Puzzles for the tests, and an independent solver for them."""

from collections.abc import Iterator
from itertools import combinations
from random import Random

from pysat.solvers import Solver

from pencil.tasks.einstein import Clue, Puzzle, Relation
from pencil.tasks.einstein.generate import sample
from pencil.tasks.einstein.instance import OFFSETS, categories, house

RIDDLE = """
There are 5 houses in five different colors in a row. In each house lives a person with a different nationality.
The five owners drink a certain type of beverage, smoke a certain brand of cigar and keep a certain pet.
No owners have the same pet, smoke the same brand of cigar, or drink the same beverage.

Hints:
1. The Brit lives in the red house.
2. The Swede keeps dogs as pets.
3. The Dane drinks tea.
4. The green house is on the left of the white house.
5. The green house's owner drinks coffee.
6. The person who smokes Pall Mall rears birds.
7. The owner of the yellow house smokes Dunhill.
8. The man living in the center house drinks milk.
9. The Norwegian lives in the first house.
10. The man who smokes Blends lives next to the one who keeps cats.
11. The man who keeps horses lives next to the man who smokes Dunhill.
12. The owner who smokes BlueMaster drinks beer.
13. The German smokes Prince.
14. The Norwegian lives next to the blue house.
15. The man who smokes Blend has a neighbor who drinks water.

The question is: who owns the fish?
"""


def values(size: int) -> list[str]:
    return [value for category in categories(size) for value in category.values]


def models(puzzle: Puzzle) -> Iterator[dict[str, int]]:
    """All solutions, value to house, by a SAT solver."""
    names = values(puzzle.size)
    houses = range(puzzle.size)
    variable = {(name, at): 1 + index * puzzle.size + at for index, name in enumerate(names) for at in houses}
    with Solver("cadical153") as solver:
        for name in names:
            solver.add_clause([variable[name, at] for at in houses])
            for left, right in combinations(houses, 2):
                solver.add_clause([-variable[name, left], -variable[name, right]])
        for category in categories(puzzle.size):
            for first, second in combinations(category.values, 2):
                for at in houses:
                    solver.add_clause([-variable[first, at], -variable[second, at]])
        for clue in puzzle.clues:
            if clue.relation is Relation.POSITION:
                solver.add_clause([variable[clue.first, at] for at in houses if house(at) == clue.second])
                continue
            for at in houses:
                allowed = [at - offset for offset in OFFSETS[clue.relation] if at - offset in houses]
                solver.add_clause([-variable[clue.first, at], *(variable[clue.second, other] for other in allowed)])
        for model in solver.enum_models():
            true = set(model)
            yield {name: at for (name, at), number in variable.items() if number in true}


def any_clue(size: int, rng: Random) -> Clue:
    """A clue of any relation, true or not."""
    relation = rng.choice(list(Relation))
    first, second = rng.sample(values(size), 2)
    return Clue(first, relation, house(rng.randrange(size)) if relation is Relation.POSITION else second)


def odd_puzzle(size: int, rng: Random) -> Puzzle:
    """A sampled puzzle with some clues left out and some put in: often contradictory or underdetermined."""
    clues = list(sample(size, rng).clues)
    kept = rng.sample(clues, len(clues) - rng.randrange(3))
    return Puzzle(size, (*kept, *(any_clue(size, rng) for _ in range(rng.randrange(3)))))
