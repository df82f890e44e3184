from contextlib import suppress
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pysat.formula import CNF

from pencil.errors import ParseError
from pencil.tasks.sat import Formula, Sat
from pencil.tasks.sat.formats import parse, to_dimacs
from pencil.tokens import join
from tests.tasks.sat.test_reason import odd_formulas


@given(odd_formulas)
def test_both_forms_round_trip(formula: Formula) -> None:
    assert parse(to_dimacs(formula)) == formula
    assert parse(join(Sat().prompt(formula))) == formula


def test_pysat_reads_what_we_write_and_we_read_what_it_writes() -> None:
    formula = Sat(6).sample(Random(0))
    theirs = CNF(from_string=to_dimacs(formula))
    assert tuple(map(tuple, theirs.clauses)) == formula.clauses
    assert parse(theirs.to_dimacs()) == formula


def test_the_prompt_may_come_without_its_special_words_and_with_line_ends() -> None:
    assert parse("( 1 ∨ ¬ 2 )\r\n∧ ( 2 )\n") == Formula(((1, -2), (2,)))


def test_a_file_is_read_by_its_content(tmp_path: Path) -> None:
    path = tmp_path / "problem.cnf"
    path.write_text("c two clauses\np cnf 2 2\n1 -2 0\n2 0\n")
    assert Sat().read(path) == Formula(((1, -2), (2,)))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "text: found nothing, expected a formula"),
        ("hello", "clause 1, word 1: found 'hello', expected ( to open a clause"),
        ("( 1 ∨ x )", "clause 1, word 4: found 'x', expected a variable such as 4"),
        ("( 1 ) ∧ ( 2 3 )", "clause 2, word 3: found '3', expected ∨ or )"),
        ("( 1 ) ( 2 )", "clause 1, word 4: found '(', expected ∧ before the next clause"),
        ("( 1 ) ∧", "clause 2, word 1: found the end of the text, expected ( to open a clause"),
        ("( 1 ∨ ¬", "clause 1, word 5: found the end of the text, expected a variable such as 4"),
        ("( 1 ∨ 0 )", "clause 1, word 4: found '0', expected a variable such as 4"),
        ("( 1 and 2 )", "clause 1, word 3: found 'and', expected ∨ or )"),
        ("( ² )", "clause 1, word 2: found '²', expected a variable such as 4"),
        ("( 251 )", "clause 1, word 2: found '251', expected a variable from 1 to 250"),
        ("\x00\x7fELF", "clause 1, word 1: found '\\x00\\x7fELF', expected ( to open a clause"),
    ],
)
def test_a_bad_prompt_is_one_line_that_names_the_place(text: str, message: str) -> None:
    with pytest.raises(ParseError) as error:
        parse(text)
    assert str(error.value) == message


def test_a_quantifier_line_points_to_the_task_that_takes_it() -> None:
    with pytest.raises(ParseError, match="line 2: found 'e', expected a clause; quantifiers belong to the task qbf"):
        parse("p cnf 1 1\ne 1 0\n1 0")


def test_a_binary_file_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "problem.cnf"
    path.write_bytes(b"p cnf \xff\xfe")
    with pytest.raises(ParseError, match="byte 6: found binary data, expected UTF-8 text"):
        Sat().read(path)


@given(st.lists(st.sampled_from("( ) ∨ ∧ ¬ 1 2 -1 0 x <|startoftext|> <|endofprompt|>".split())))
def test_any_words_are_a_formula_or_a_parse_error(words: list[str]) -> None:
    with suppress(ParseError):
        assert isinstance(parse(join(words)), Formula)


@pytest.mark.parametrize("text", ["(1∨¬2)∧(2)", "(x1|~x2)&(x2)", "( 1 or not 2 ) and ( 2 )", "(1 v -2) ^ (2)"])
def test_spaces_and_symbols_may_be_typed_as_one_likes(text: str) -> None:
    assert parse(text) == Formula(((1, -2), (2,)))
