"""Random 3-SAT at the paper's ratio of clauses to variables, with both labels equally likely."""

from functools import cache
from itertools import permutations, product
from random import Random

from pencil.tasks.logic import truth_table
from pencil.tasks.sat.instance import Formula
from pencil.tasks.sat.reason import Clauses, assign, decide_at_once, first_unit, smallest_variable

CLAUSES_PER_VARIABLE = 4.3
_SIGNS = list(product((1, -1), repeat=3))
_TABLE_VARIABLES = 14  # up to here a truth table, 2 KB a literal, is faster than a search


def sample(variables: int, rng: Random) -> Formula:
    """A formula drawn uniformly from those with a label that a fair coin chose.

    Drawing until the label fits, rather than planting a solution, leaves no sign of how an instance was made.
    """
    label = rng.random() < 0.5
    while True:
        formula = random_formula(variables, rng)
        if is_satisfiable(formula) == label:
            return formula


def clause_count(variables: int) -> int:
    """How many clauses a sampled formula has."""
    return int(CLAUSES_PER_VARIABLE * variables)


def random_formula(variables: int, rng: Random) -> Formula:
    """int(4.3 n) uniform clauses, each of three different variables."""
    count = clause_count(variables)
    triples = rng.choices(_ordered_triples(variables), k=count)
    signs = rng.choices(_SIGNS, k=count)
    return Formula(tuple([(a * s, b * t, c * u) for (a, b, c), (s, t, u) in zip(triples, signs, strict=True)]))


@cache
def _ordered_triples(variables: int) -> list[tuple[int, int, int]]:
    return list(permutations(range(1, variables + 1), 3))


def is_satisfiable(formula: Formula) -> bool:
    """Whether some assignment makes every clause true."""
    variables = formula.variables
    return truth_table(formula.clauses, variables) != 0 if variables <= _TABLE_VARIABLES else _search(formula.clauses)


def _search(clauses: Clauses) -> bool:
    """DPLL without a trace."""
    decided = decide_at_once(clauses)
    if decided is not None:
        return decided
    unit = first_unit(clauses)
    if unit is not None:
        return _search(assign(clauses, unit))
    variable = smallest_variable(clauses)
    return _search(assign(clauses, variable)) or _search(assign(clauses, -variable))
