from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pencil.errors import ParseError
from pencil.tasks.dimacs import DimacsFile, read_dimacs, write_dimacs

SATLIB = """c a file in the manner of SATLIB
c---
p cnf 3 3
 1 -2
 0 3 2 0
-1 0
%
0

"""
HEADER = "a header such as p cnf 3 2, for 3 variables and 2 clauses"


def test_comments_clauses_over_lines_and_a_percent_sign() -> None:
    assert read_dimacs(SATLIB).clauses == ((1, -2), (3, 2), (-1,))


def test_line_ends_may_be_those_of_windows() -> None:
    assert read_dimacs("p cnf 2 1\r\n1 2 0\r\n").clauses == ((1, 2),)


def test_an_empty_clause_and_no_clause_are_written_and_read() -> None:
    assert read_dimacs(write_dimacs(((), (1,)), 1)).clauses == ((), (1,))
    assert write_dimacs((), 0) == "p cnf 0 0\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("c nothing else", f"line 1: found the end of the file, expected {HEADER}"),
        ("p cnf 3", f"line 1: found 'p cnf 3', expected {HEADER}"),
        ("p sat 3 2", f"line 1: found 'p sat 3 2', expected {HEADER}"),
        ("p cnf -3 2", f"line 1: found 'p cnf -3 2', expected {HEADER}"),
        ("c\n1 2 0", f"line 2: found '1 2 0', expected {HEADER}"),
        ("p cnf 251 0", "line 1: found 251 variables, expected at most 250"),
        ("p cnf 3 1\n1 x 0", "line 2: found 'x', expected a literal such as -3, or 0 at the end"),
        ("p cnf 3 1\n1 -4 0", "line 2: found '-4', expected a literal from -3 to 3, as the header says"),
        ("p cnf 3 1\n1 -0 0", "line 2: found '-0', expected a literal from -3 to 3, as the header says"),
        ("p cnf 3 2\n1 0\n3 -1", "line 3: found the end of the file, expected a 0 that ends clause 2"),
        ("p cnf 3 2\n1 0", "line 1: found 'p cnf 3 2', expected p cnf 3 1, the count of the clauses that follow"),
        ("p cnf 1 1\n1 0 1 0", "line 1: found 'p cnf 1 1', expected p cnf 1 2, the count of the clauses that follow"),
        ("p cnf 1 1\n\x00\x01", "line 2: found '\\x00\\x01', expected a literal such as -3, or 0 at the end"),
    ],
)
def test_a_bad_file_is_one_line_that_names_the_place(text: str, message: str) -> None:
    with pytest.raises(ParseError) as error:
        read_dimacs(text)
    assert str(error.value) == message


@given(st.lists(st.sampled_from("c p cnf e a 0 1 -1 2 % x \n".split(" "))).map(" ".join))
def test_any_text_is_a_file_or_a_parse_error(text: str) -> None:
    for start in ("", "p cnf 1 2\n"):
        with suppress(ParseError):
            assert isinstance(read_dimacs(start + text), DimacsFile)
