"""Formulas from text and to text: the paper's prompt and DIMACS."""

from pencil.errors import ParseError
from pencil.tasks.dimacs import read_dimacs, write_dimacs
from pencil.tasks.logic import Clause, Cursor, looks_like_dimacs, read_clause
from pencil.tasks.sat.instance import Formula


def parse(text: str) -> Formula:
    """A formula from either form, recognised by the first word.

    >>> parse("( 1 ∨ ¬ 2 ) ∧ ( 2 )") == parse("p cnf 2 2\\n1 -2 0\\n2 0")
    True
    """
    return from_dimacs(text) if looks_like_dimacs(text) else from_prompt(text)


def from_prompt(text: str) -> Formula:
    """A formula from the words of the paper's prompt, with or without the special ones around them."""
    cursor = Cursor(text)
    clauses: list[Clause] = []
    while not cursor.at_end():
        if clauses:
            cursor.expect("∧", "before the next clause")
        cursor.begin(f"clause {len(clauses) + 1}")
        clauses.append(read_clause(cursor))
    return Formula(tuple(clauses))


def from_dimacs(text: str) -> Formula:
    """A formula from the text of a DIMACS file."""
    file = read_dimacs(text)
    for line in file.quantifiers:
        raise ParseError(f"line {line.number}", line.kind, "a clause; quantifiers belong to the task qbf")
    return Formula(file.clauses)


def to_dimacs(formula: Formula) -> str:
    """The text of a DIMACS file."""
    return write_dimacs(formula.clauses, formula.variables)
