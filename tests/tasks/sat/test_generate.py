from hashlib import sha256
from random import Random

import pytest

from pencil.tasks.logic import clause_words
from pencil.tasks.sat import Sat
from pencil.tasks.sat.formats import to_dimacs
from pencil.tasks.sat.generate import is_satisfiable, random_formula, sample


@pytest.mark.parametrize("size", [3, 7, 10])
def test_clauses_are_at_the_papers_ratio_and_hold_three_different_variables(size: int) -> None:
    formula = sample(size, Random(1))
    assert len(formula.clauses) == int(4.3 * size)
    for clause in formula.clauses:
        assert len({abs(literal) for literal in clause}) == 3
    assert formula.variables <= size


def test_the_same_seed_gives_the_same_bytes() -> None:
    text = "".join(to_dimacs(sample(10, rng)) for rng in (Random(0), Random(1)))
    assert sha256(text.encode()).hexdigest()[:16] == "380d7446342b0470"


@pytest.mark.parametrize("size", [3, 10])
def test_labels_are_balanced(size: int) -> None:
    rng = Random(2)
    satisfiable = sum(is_satisfiable(sample(size, rng)) for _ in range(400))
    assert 160 <= satisfiable <= 240  # four standard deviations


def test_each_variable_place_and_sign_is_equally_likely() -> None:
    rng = Random(3)
    literals = [literal for _ in range(200) for clause in random_formula(5, rng).clauses for literal in clause]
    expected = len(literals) / 10
    for literal in (*range(-5, 0), *range(1, 6)):
        assert abs(literals.count(literal) - expected) < 4 * expected**0.5


def test_the_search_and_the_truth_table_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = Random(4)
    formulas = [random_formula(8, rng) for _ in range(100)]
    by_table = [is_satisfiable(formula) for formula in formulas]
    monkeypatch.setattr("pencil.tasks.sat.generate._TABLE_VARIABLES", 0)
    assert [is_satisfiable(formula) for formula in formulas] == by_table
    assert set(by_table) == {True, False}


def test_a_large_size_can_be_sampled() -> None:
    task = Sat(30)
    formula = task.sample(Random(5))
    assert len(formula.clauses) == 129
    task.vocab.encode([word for clause in formula.clauses for word in clause_words(clause)])
