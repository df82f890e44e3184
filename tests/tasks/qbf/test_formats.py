from contextlib import suppress
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pencil.errors import ParseError
from pencil.tasks.qbf import Bound, Qbf, QuantifiedFormula
from pencil.tasks.qbf.formats import parse, to_qdimacs
from pencil.tokens import join
from tests.tasks.qbf.test_reason import odd_formulas


def test_qdimacs_in_and_out() -> None:
    text = "p cnf 3 2\na 1 3 0\ne 2 0\n1 -2 0\n3 2 0\n"
    formula = parse(text)
    assert formula.prefix == (Bound("∀", 1), Bound("∀", 3), Bound("∃", 2))
    assert formula.clauses == ((1, -2), (3, 2))
    assert to_qdimacs(formula) == text


def test_free_variables_are_existential_and_outermost() -> None:
    formula = parse("c free: 2 and 3\np cnf 4 2\na 1 0\n1 -3 0\n2 -1 0\n")
    assert formula.prefix == (Bound("∃", 2), Bound("∃", 3), Bound("∀", 1))


@given(odd_formulas())
def test_both_forms_round_trip(formula: QuantifiedFormula) -> None:
    assert parse(to_qdimacs(formula)) == formula
    assert parse(join(Qbf().prompt(formula))) == formula


def test_a_sampled_formula_round_trips() -> None:
    formula = Qbf(8).sample(Random(0))
    assert parse(to_qdimacs(formula)) == formula


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "text: found nothing, expected a formula"),
        ("∀ 1 ∃ x :", "prefix, word 4: found 'x', expected a variable such as 4"),
        ("∀ 1 2 :", "prefix, word 3: found '2', expected ∀, ∃, or : before the clauses"),
        ("∀ 1", "prefix, word 3: found the end of the text, expected ∀, ∃, or : before the clauses"),
        ("∀ 1 ∃ 1 :", "prefix: found variable 1 bound twice, expected each variable once"),
        ("∀ 1 : #1 ( 1 ) #3 ( 1 )", "clause 2, word 1: found '#3', expected ( to open a clause"),
        ("∀ 1 : #1 ( 1 ∨ 2 )", "clause 1: found '2', expected a variable that the prefix binds"),
        ("∀ 1 : #1 ( 1 ∨ and )", "clause 1, word 5: found 'and', expected a variable such as 4"),
        ("∀ 1 : #1 ( 1 ) stray", "clause 2, word 1: found 'stray', expected ( to open a clause"),
    ],
)
def test_a_bad_prompt_is_one_line_that_names_the_place(text: str, message: str) -> None:
    with pytest.raises(ParseError) as error:
        parse(text)
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("p cnf 2 1\na 1 2\n1 0", "line 2: found 'a 1 2', expected variables and a 0 at the end, such as a 1 2 0"),
        ("p cnf 2 1\na 0\n1 0", "line 2: found 'a 0', expected variables and a 0 at the end, such as a 1 2 0"),
        ("p cnf 2 1\na 3 0\n1 0", "line 2: found '3', expected a variable from 1 to 2, as the header says"),
        ("p cnf 2 1\na -1 0\n1 0", "line 2: found '-1', expected a variable from 1 to 2, as the header says"),
        ("p cnf 2 1\na 1 0 2 0\n1 0", "line 2: found '0', expected a variable from 1 to 2, as the header says"),
        ("p cnf 2 1\na x 0\n1 0", "line 2: found 'x', expected a variable such as 3, or 0 at the end"),
        ("p cnf 2 1\na 1 0\ne 2 1 0\n1 0", "line 3: found variable 1 bound twice, expected each variable once"),
        ("p cnf 2 1\n1 0\ne 2 0", "line 3: found 'e', expected a literal such as -3, or 0 at the end"),
    ],
)
def test_a_bad_file_is_one_line_that_names_the_place(text: str, message: str) -> None:
    with pytest.raises(ParseError) as error:
        parse(text)
    assert str(error.value) == message


@given(st.lists(st.sampled_from("∀ ∃ 1 2 : #1 #2 ( ) ∨ ¬ 0 x <|startoftext|> <|endofprompt|>".split())))
def test_any_words_are_a_formula_or_a_parse_error(words: list[str]) -> None:
    with suppress(ParseError):
        assert isinstance(parse(join(words)), QuantifiedFormula)


def test_labels_may_be_left_out_and_quantifiers_spelled() -> None:
    assert parse("forall 1 exists 2 : (1 or 2) (~1 or ~2)") == parse("∀ 1 ∃ 2 : #1 ( 1 ∨ 2 ) #2 ( ¬ 1 ∨ ¬ 2 )")
