"""DIMACS and QDIMACS, the line formats of SAT and QBF solvers.

>>> read_dimacs("c a comment\\np cnf 3 2\\n1 -2 0 3\\n2 0").clauses
((1, -2), (3, 2))
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pencil.errors import ParseError
from pencil.tasks.logic import MAX_VARIABLES, Clause

IS_COMMENT = re.compile(r"\s*c(?!\w)")
Line = tuple[int, list[str]]
"""A line's number, counted from 1, and its words."""


@dataclass(frozen=True)
class QuantifierLine:
    """A line of QDIMACS that starts with `e` or `a`."""

    number: int
    kind: str
    variables: tuple[int, ...]


@dataclass(frozen=True)
class DimacsFile:
    """What a file holds: its quantifier lines, none in plain DIMACS, and its clauses."""

    quantifiers: tuple[QuantifierLine, ...]
    clauses: tuple[Clause, ...]


def read_dimacs(text: str) -> DimacsFile:
    """A file from its text; whatever is wrong with it is an error that names the line."""
    lines = list(_lines(text))
    header_line, variables, clause_count = _read_header(lines)
    body = lines[1:]
    blocks = 0
    while blocks < len(body) and body[blocks][1][0] in ("e", "a"):
        blocks += 1
    quantifiers = tuple(_read_quantifiers(line, variables) for line in body[:blocks])
    clauses = tuple(_read_clauses(body[blocks:], variables, last_line=text.count("\n") + 1))
    if len(clauses) != clause_count:
        counted = f"p cnf {variables} {len(clauses)}, the count of the clauses that follow"
        raise ParseError(f"line {header_line}", f"p cnf {variables} {clause_count}", counted)
    return DimacsFile(quantifiers, clauses)


def write_dimacs(clauses: Iterable[Clause], variables: int, blocks: Iterable[str] = ()) -> str:
    """The text of a file: the header, the quantifier lines, one clause a line."""
    lines = [" ".join(map(str, (*clause, 0))) for clause in clauses]
    return "\n".join((f"p cnf {variables} {len(lines)}", *blocks, *lines, ""))


def _lines(text: str) -> Iterator[Line]:
    """The lines that count: no comments, no blank ones, and nothing from a `%` on, with which SATLIB ends its files."""
    for number, line in enumerate(text.split("\n"), start=1):
        words = line.split()
        if words and words[0] == "%":
            return
        if words and not IS_COMMENT.match(line):
            yield number, words


def _read_header(lines: list[Line]) -> tuple[int, int, int]:
    """The line of the header, its number of variables and its number of clauses."""
    expected = "a header such as p cnf 3 2, for 3 variables and 2 clauses"
    if not lines:
        raise ParseError("line 1", "<the end of the file>", expected)
    number, words = lines[0]
    counts = [int(word) for word in words[2:] if _is_integer(word)]
    if words[:2] != ["p", "cnf"] or len(words) != 4 or len(counts) != 2 or min(counts) < 0:
        raise ParseError(f"line {number}", " ".join(words), expected)
    if counts[0] > MAX_VARIABLES:
        raise ParseError(f"line {number}", f"<{counts[0]} variables>", f"at most {MAX_VARIABLES}")
    return number, counts[0], counts[1]


def _read_quantifiers(line: Line, variables: int) -> QuantifierLine:
    number, words = line
    if words[-1] != "0" or len(words) < 3:
        raise ParseError(f"line {number}", " ".join(words), f"variables and a 0 at the end, such as {words[0]} 1 2 0")
    bound = tuple(_read_literal(number, word, variables, smallest=1) for word in words[1:-1])
    return QuantifierLine(number, words[0], bound)


def _read_clauses(lines: Iterable[Line], variables: int, last_line: int) -> Iterator[Clause]:
    """The clauses, each up to its 0; they may span lines."""
    literals: list[int] = []
    finished = 0
    for number, words in lines:
        for word in words:
            if word == "0":
                yield tuple(literals)
                literals = []
                finished += 1
            else:
                literals.append(_read_literal(number, word, variables, smallest=-variables))
    if literals:
        raise ParseError(f"line {last_line}", "<the end of the file>", f"a 0 that ends clause {finished + 1}")


def _read_literal(line: int, word: str, variables: int, smallest: int) -> int:
    """A number other than 0 in the range that the header allows."""
    kind = "a variable" if smallest == 1 else "a literal"
    if not _is_integer(word):
        raise ParseError(f"line {line}", word, f"{kind} such as {'3' if smallest == 1 else '-3'}, or 0 at the end")
    literal = int(word)
    if not smallest <= literal <= variables or literal == 0:
        raise ParseError(f"line {line}", word, f"{kind} from {smallest} to {variables}, as the header says")
    return literal


def _is_integer(word: str) -> bool:
    return re.fullmatch("-?[0-9]{1,9}", word) is not None
