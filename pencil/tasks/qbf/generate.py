"""Random quantified formulas with both labels equally likely.

Uniform formulas are almost always false. So every instance starts as a valid formula, in which each existential
variable is tied by an equivalence to universal ones before it, and other clauses follow from these or from nothing.
Then one literal changes, for either label, such that the formula stays valid or becomes invalid, as a fair coin asked.

What breaks a formula is most often a broken equivalence, so looking for intact ones tells the label in six to seven of
ten cases. A test keeps it from telling more.
"""

from collections.abc import Sequence
from random import Random

from pencil.tasks.logic import Clause, clause_table, truth_table
from pencil.tasks.qbf.instance import EXISTS, FORALL, Bound, QuantifiedFormula

Prefix = tuple[Bound, ...]

_TAUTOLOGIES = 0.2  # of the clauses proposed; more among those kept, since most other proposals fail
_FLIPS = 20  # tried before another valid formula is made


def fewest_clauses(variables: int) -> int:
    """The fewest clauses that a sampled formula has."""
    return 2 * variables


def most_clauses(variables: int) -> int:
    """The most clauses that a sampled formula has."""
    return fewest_clauses(variables) + 3


def sample(variables: int, rng: Random) -> QuantifiedFormula:
    """A formula with a label that a fair coin chose; the label is verified on the finished formula."""
    label = rng.random() < 0.5
    while True:
        perturbed = _perturb(valid_formula(variables, rng), label, rng)
        if perturbed is not None:
            formula = _shuffle(perturbed, rng)
            if is_valid(formula) == label:
                return formula


def is_valid(formula: QuantifiedFormula) -> bool:
    """The exact truth value, by elimination of the quantifiers from the truth table, innermost first."""
    return _holds(formula.prefix, truth_table(formula.clauses, formula.variables))


def _holds(prefix: Prefix, table: int) -> bool:
    for quantifier, variable in reversed(prefix):
        where_true = table >> (1 << (variable - 1))  # bit b now holds the value with the variable true
        table = table | where_true if quantifier == EXISTS else table & where_true
    return bool(table & 1)


def valid_formula(variables: int, rng: Random) -> QuantifiedFormula:
    """Equivalences for the existential variables, then clauses that keep the formula valid."""
    prefix = random_prefix(variables, rng)
    count = rng.randint(fewest_clauses(variables), most_clauses(variables))
    clauses = _equivalences(prefix, count, rng)
    table = truth_table(clauses, variables)
    while len(clauses) < count:
        clause = _tautology(prefix, rng) if rng.random() < _TAUTOLOGIES else _random_clause(prefix, rng)
        with_clause = table & clause_table(clause, variables)
        if _are_distinct([*clauses, clause]) and _holds(prefix, with_clause):
            clauses.append(clause)
            table = with_clause
    return QuantifiedFormula(prefix, tuple(clauses))


def random_prefix(variables: int, rng: Random) -> Prefix:
    """The variables in random order, each existential with probability 0.5, at least one of each kind."""
    order = rng.sample(range(1, variables + 1), variables)
    while True:
        quantifiers = rng.choices((EXISTS, FORALL), k=variables)
        if len(set(quantifiers)) == 2:
            return tuple(map(Bound, quantifiers, order))


def _equivalences(prefix: Prefix, count: int, rng: Random) -> list[Clause]:
    """For each existential variable with universal ones before it, an equivalence; at most `count` clauses in all."""
    clauses: list[Clause] = []
    universals: list[int] = []
    ties: list[tuple[int, list[int]]] = []  # an existential variable, and the universal ones before it
    for quantifier, variable in prefix:
        if quantifier == FORALL:
            universals.append(variable)
        elif universals:
            ties.append((variable, universals.copy()))
    spare = count - 2 * len(ties)  # an equivalence to one variable takes two clauses, each further variable one more
    for variable, earlier in ties:
        inputs = rng.sample(earlier, rng.randint(1, min(len(earlier), 1 + spare)))
        spare -= len(inputs) - 1
        clauses += _equivalence(variable, inputs, rng)
    return clauses


def _equivalence(variable: int, inputs: list[int], rng: Random) -> list[Clause]:
    """The clauses of `output ↔ AND of literals`; a negative output makes it an OR of their negations."""
    output = _random_sign(variable, rng)
    literals = [_random_sign(universal, rng) for universal in inputs]
    return [*((-output, literal) for literal in literals), (output, *(-literal for literal in literals))]


def _tautology(prefix: Prefix, rng: Random) -> Clause:
    """A variable and its negation, alone or with one more literal."""
    (_, variable), (_, other) = rng.sample(prefix, 2)
    return (variable, -variable, _random_sign(other, rng))[: rng.randint(2, 3)]


def _random_clause(prefix: Prefix, rng: Random) -> Clause:
    """Two or three literals of different variables; at least one is existential, since else no strategy saves it."""
    while True:
        bound = rng.sample(prefix, rng.randint(2, min(3, len(prefix))))
        if any(quantifier == EXISTS for quantifier, _ in bound):
            return tuple([_random_sign(variable, rng) for _, variable in bound])


def _are_distinct(clauses: Sequence[Clause]) -> bool:
    """Whether no clause is there twice, in whatever order of its literals."""
    return len(set(map(frozenset, clauses))) == len(clauses)


def _random_sign(variable: int, rng: Random) -> int:
    return variable if rng.random() < 0.5 else -variable


def _perturb(formula: QuantifiedFormula, label: bool, rng: Random) -> QuantifiedFormula | None:
    """Flip one literal such that the formula gets this label; None where no flip does it soon."""
    for _ in range(_FLIPS):
        flipped = QuantifiedFormula(formula.prefix, _flip_literal(formula.clauses, rng))
        if flipped != formula and _are_distinct(flipped.clauses) and is_valid(flipped) == label:
            return flipped
    return None


def _flip_literal(clauses: tuple[Clause, ...], rng: Random) -> tuple[Clause, ...]:
    """The clauses with one literal negated, in a clause that is no tautology; unchanged where all are."""
    breakable = [index for index, clause in enumerate(clauses) if len(set(map(abs, clause))) == len(clause)]
    if not breakable:
        return clauses
    index = rng.choice(breakable)
    clause = list(clauses[index])
    position = rng.randrange(len(clause))
    clause[position] = -clause[position]
    return (*clauses[:index], tuple(clause), *clauses[index + 1 :])


def _shuffle(formula: QuantifiedFormula, rng: Random) -> QuantifiedFormula:
    """The clauses, and the literals of each, in random order."""
    clauses = [tuple(rng.sample(clause, len(clause))) for clause in formula.clauses]
    rng.shuffle(clauses)
    return QuantifiedFormula(formula.prefix, tuple(clauses))
