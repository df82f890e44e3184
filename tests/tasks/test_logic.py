from itertools import product
from random import Random
from typing import Any

import pytest

from pencil.tasks.base import Task
from pencil.tasks.logic import clause_words, literal_table, stated_answer, truth_table
from pencil.tasks.qbf import Qbf
from pencil.tasks.sat import Sat


@pytest.mark.parametrize("literal", [1, -1, 2, -2, 3, -3])
def test_a_literals_table_holds_its_value_under_each_assignment(literal: int) -> None:
    table = literal_table(literal, 3)
    for bits in range(8):
        value = bool(bits >> (abs(literal) - 1) & 1)
        assert bool(table >> bits & 1) == (value == (literal > 0))


def test_a_formulas_table_holds_its_models() -> None:
    clauses = ((1, -2), (2, 3), (-1, -3))
    for bits, (third, second, first) in enumerate(product((False, True), repeat=3)):
        expected = (first or not second) and (second or third) and (not first or not third)
        assert bool(truth_table(clauses, 3) >> bits & 1) == expected


def test_an_empty_clause_has_words() -> None:
    assert clause_words(()) == ("(", ")")


@pytest.mark.parametrize(
    ("response", "answer"),
    [
        ("Answer: False <|endoftext|>", "False"),
        ("Try 1 = True [SEP] Answer: True [RETURN] <|endoftext|>", None),
        ("Answer: True [RETURN] <|endoftext|>", None),
        ("Answer: Maybe <|endoftext|>", None),
        ("Answer:", None),
        ("Answer: True Try", None),
        ("", None),
    ],
)
def test_the_answer_that_a_response_states(response: str, answer: str | None) -> None:
    assert stated_answer(response.split()) == answer


@pytest.mark.parametrize("task", [Sat(6), Qbf(6)])
def test_every_word_is_in_the_vocabulary_and_every_call_returns(task: Task[Any]) -> None:
    rng = Random(0)
    for _ in range(20):
        trace = task.trace(task.sample(rng))
        task.vocab.encode([*trace.prompt, *trace.generated])
        stats = trace.stats()
        assert stats.unmatched == 0
        assert stats.reductions == trace.generated.count("[CALL]")
        assert task.answer(trace.final) in ("True", "False")
