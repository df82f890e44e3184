from itertools import product

import pytest

from pencil.tasks.logic import clause_words, literal_table, stated_answer, truth_table


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
        ("Try 1 = True [SEP] Answer: True [RETURN] <|endoftext|>", "True"),
        ("Answer: Maybe <|endoftext|>", None),
        ("Answer:", None),
        ("Answer: True Try", None),
        ("", None),
    ],
)
def test_the_answer_that_a_response_states(response: str, answer: str | None) -> None:
    assert stated_answer(response.split()) == answer
