"""Which task a text is about: a DIMACS or QDIMACS file, a formula, or clues.

>>> recognise("p cnf 2 1\\na 1 0\\ne 2 0\\n1 -2 0")
'qbf'
>>> recognise("1. The Brit lives in the red house.")
'einstein'
"""

import re

from pencil.errors import ParseError
from pencil.tasks.dimacs import IS_COMMENT
from pencil.tasks.einstein.english import names_a_value

EXPECTED = (
    "a DIMACS or QDIMACS file, a formula such as ( 1 ∨ ¬ 2 ) ∧ ( 2 ) or ∀ 1 ∃ 2 : ( 1 ∨ 2 ),"
    " or clues such as the Brit lives in the red house"
)
_DIMACS_LINE = re.compile(r"\s*(?:p\b|(?:[ae]\s+)?-?\d+(?:\s+-?\d+)*\s*$)")
_QUANTIFIER_LINE = re.compile(r"\s*[ae]\s+\d")
_QUANTIFIER = re.compile(r"[∀∃]|\b(?:forall|exists)\b", re.IGNORECASE)
_CONNECTIVE = re.compile(r"[(∨∧¬|&~]|\b(?:and|or|not)\b", re.IGNORECASE)


def recognise(text: str) -> str:
    """The name of the task whose instance a text seems to be; whether it is one, the task's own reader finds out."""
    lines = [line for line in text.splitlines() if line.strip() and not IS_COMMENT.match(line)]
    if lines and _DIMACS_LINE.match(lines[0]):
        return "qbf" if any(map(_QUANTIFIER_LINE.match, lines)) else "sat"
    if names_a_value(text):
        return "einstein"
    if _QUANTIFIER.search(text):
        return "qbf"
    if _CONNECTIVE.search(text) and re.search(r"\d", text):
        return "sat"
    raise ParseError("problem", text.strip() or "<nothing>", EXPECTED)
