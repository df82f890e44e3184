from collections import Counter
from hashlib import sha256
from random import Random

import pytest

from pencil.tasks.qbf.formats import to_qdimacs
from pencil.tasks.qbf.generate import is_valid, random_prefix, sample, valid_formula
from pencil.tasks.qbf.instance import EXISTS, QuantifiedFormula


def samples(size: int, count: int) -> list[QuantifiedFormula]:
    rng = Random(size)
    return [sample(size, rng) for _ in range(count)]


def tautologies(formula: QuantifiedFormula) -> int:
    return sum(any(-literal in clause for literal in clause) for clause in formula.clauses)


def test_each_variable_is_bound_once_and_both_kinds_occur() -> None:
    rng = Random(0)
    existential = 0
    for _ in range(200):
        prefix = random_prefix(6, rng)
        assert sorted(variable for _, variable in prefix) == [1, 2, 3, 4, 5, 6]
        kinds = [quantifier for quantifier, _ in prefix]
        assert len(set(kinds)) == 2
        existential += kinds.count(EXISTS)
    assert abs(existential / 1200 - 0.5) < 0.06


@pytest.mark.parametrize("size", [2, 4, 10])
def test_clauses_are_as_many_and_as_long_as_the_paper_has_them(size: int) -> None:
    formulas = samples(size, 100)
    for formula in formulas:
        assert 2 * size <= len(formula.clauses) <= 2 * size + 3
        assert len(set(map(frozenset, formula.clauses))) == len(formula.clauses)
    lengths = Counter(len(clause) for formula in formulas for clause in formula.clauses)
    assert min(lengths) == 2
    assert sum(lengths[length] for length in (2, 3, 4)) > 0.95 * lengths.total()
    assert sum(map(tautologies, formulas)) > 100


def test_the_start_of_every_instance_is_valid() -> None:
    rng = Random(1)
    assert all(is_valid(valid_formula(5, rng)) for _ in range(50))


def test_the_same_seed_gives_the_same_bytes() -> None:
    text = "".join(to_qdimacs(sample(10, rng)) for rng in (Random(0), Random(1)))
    assert sha256(text.encode()).hexdigest()[:16] == "cce0e8fd114e24bf"


@pytest.mark.parametrize("size", [2, 3, 10])
def test_labels_are_balanced(size: int) -> None:
    valid = sum(map(is_valid, samples(size, 400)))
    assert 160 <= valid <= 240  # four standard deviations


@pytest.mark.parametrize("size", [3, 10])
def test_no_simple_count_tells_the_label(size: int) -> None:
    formulas = {label: [f for f in samples(size, 800) if is_valid(f) == label] for label in (True, False)}
    for count in (
        lambda formula: len(formula.clauses),
        lambda formula: sum(map(len, formula.clauses)),
        lambda formula: sum(literal < 0 for clause in formula.clauses for literal in clause),
        lambda formula: [quantifier for quantifier, _ in formula.prefix].count(EXISTS),
        tautologies,
    ):
        means = [sum(map(count, group)) / len(group) for group in formulas.values()]
        assert abs(means[0] - means[1]) < 0.06 * max(means)


def has_intact_equivalence(variable: int, earlier: set[int], clauses: set[frozenset[int]]) -> bool:
    """Whether the clauses still say: this variable is an AND or an OR of earlier universal ones."""
    for output in (variable, -variable):
        for clause in clauses:
            inputs = clause - {output}
            could_be = output in clause and inputs and {abs(literal) for literal in inputs} <= earlier
            if could_be and all(frozenset((-output, -literal)) in clauses for literal in inputs):
                return True
    return False


def looks_valid(formula: QuantifiedFormula) -> bool:
    clauses, universals = set(map(frozenset, formula.clauses)), set()
    for quantifier, variable in formula.prefix:
        if quantifier != EXISTS:
            universals.add(variable)
        elif universals and not has_intact_equivalence(variable, universals, clauses):
            return False
    return True


@pytest.mark.parametrize("size", [2, 3, 6, 10])
def test_intact_equivalences_hardly_tell_the_label(size: int) -> None:
    formulas = samples(size, 400)
    right = sum(looks_valid(formula) == is_valid(formula) for formula in formulas)
    assert right / len(formulas) < 0.72
