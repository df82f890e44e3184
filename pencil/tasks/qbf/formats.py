"""Quantified formulas from text and to text: the paper's prompt and QDIMACS."""

from collections.abc import Iterator
from itertools import chain, groupby

from pencil.errors import ParseError
from pencil.tasks.dimacs import DimacsFile, read_dimacs, write_dimacs
from pencil.tasks.logic import Clause, Cursor, clause_words, looks_like_dimacs, read_clause
from pencil.tasks.qbf.instance import EXISTS, FORALL, Bound, QuantifiedFormula, Quantifier

_QUANTIFIER_OF: dict[str, Quantifier] = {"a": FORALL, "e": EXISTS}
_LETTER_OF = {FORALL: "a", EXISTS: "e"}


def parse(text: str) -> QuantifiedFormula:
    """A formula from either form, recognised by the first word.

    >>> parse("∀ 1 ∃ 2 : #1 ( 1 ∨ ¬ 2 )") == parse("p cnf 2 1\\na 1 0\\ne 2 0\\n1 -2 0")
    True
    """
    return from_qdimacs(text) if looks_like_dimacs(text) else from_prompt(text)


def prompt_words(formula: QuantifiedFormula) -> Iterator[str]:
    """The words of the paper's prompt, whose clauses count from 1."""
    for quantifier, variable in formula.prefix:
        yield from (quantifier, str(variable))
    yield ":"
    for number, clause in enumerate(formula.clauses, start=1):
        yield f"#{number}"
        yield from clause_words(clause)


def from_prompt(text: str) -> QuantifiedFormula:
    """A formula from the words of the paper's prompt, with or without the special ones around them."""
    cursor = Cursor(text)
    prefix = _read_prefix(cursor)
    bound = {variable for _, variable in prefix}
    clauses: list[Clause] = []
    while not cursor.at_end():
        number = len(clauses) + 1
        cursor.begin(f"clause {number}")
        cursor.accept(f"#{number}")
        clause = read_clause(cursor)
        for variable in map(abs, clause):
            if variable not in bound:
                raise ParseError(f"clause {number}", str(variable), "a variable that the prefix binds")
        clauses.append(clause)
    return QuantifiedFormula(prefix, tuple(clauses))


def _read_prefix(cursor: Cursor) -> tuple[Bound, ...]:
    """Quantifiers and their variables, up to the colon."""
    prefix: dict[int, Bound] = {}
    cursor.begin("prefix")
    while not cursor.accept(":"):
        quantifier = next((kind for kind in (FORALL, EXISTS) if cursor.accept(kind)), None)
        if quantifier is None:
            raise cursor.error("∀, ∃, or : before the clauses")
        variable = cursor.variable()
        if variable in prefix:
            raise ParseError("prefix", f"<variable {variable} bound twice>", "each variable once")
        prefix[variable] = Bound(quantifier, variable)
    return tuple(prefix.values())


def from_qdimacs(text: str) -> QuantifiedFormula:
    """A formula from the text of a QDIMACS file; a variable that it does not bind is existential and outermost."""
    file = read_dimacs(text)
    bound = _bound_in(file)
    free = sorted(set(map(abs, chain.from_iterable(file.clauses))) - bound.keys())
    return QuantifiedFormula((*(Bound(EXISTS, variable) for variable in free), *bound.values()), file.clauses)


def _bound_in(file: DimacsFile) -> dict[int, Bound]:
    bound: dict[int, Bound] = {}
    for line in file.quantifiers:
        for variable in line.variables:
            if variable in bound:
                raise ParseError(f"line {line.number}", f"<variable {variable} bound twice>", "each variable once")
            bound[variable] = Bound(_QUANTIFIER_OF[line.kind], variable)
    return bound


def to_qdimacs(formula: QuantifiedFormula) -> str:
    """The text of a QDIMACS file, neighbours with the same quantifier on one line."""
    blocks = [
        " ".join((_LETTER_OF[quantifier], *(str(variable) for _, variable in block), "0"))
        for quantifier, block in groupby(formula.prefix, key=lambda bound: bound.quantifier)
    ]
    return write_dimacs(formula.clauses, formula.variables, blocks)
