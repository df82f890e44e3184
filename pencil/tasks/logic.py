"""What the SAT and QBF tasks share: clauses and their words, readers of the paper's prompts, and truth tables.

A literal is a signed number: 3 is the variable 3, and -3 is `¬ 3`. A clause is a tuple of literals.

>>> " ".join(clause_words((4, -3)))
'( 4 ∨ ¬ 3 )'
>>> read_clause(Cursor("( 4 ∨ ¬ 3 )"))
(4, -3)
"""

import re
from collections.abc import Iterable, Sequence
from functools import cache

from pencil.errors import ParseError
from pencil.tokens import END, PROMPT_END, START

Clause = tuple[int, ...]

TRUTH = ("False", "True")
"""The words of the truth values, indexed by the value."""
LOGIC_WORDS = ("(", ")", "∨", "¬", "=", "Question:", "Answer:", "Try", *TRUTH)
"""Words that every task on formulas uses."""
MAX_VARIABLES = 250
"""The most variables of a parsed formula: its trace may be that many calls deep, and Python's stack has an end."""


def literal_words(literal: int) -> tuple[str, ...]:
    """A literal as it is printed."""
    return (str(literal),) if literal > 0 else ("¬", str(-literal))


def clause_words(clause: Clause) -> tuple[str, ...]:
    """A clause as it is printed; an empty one is `( )`."""
    words = ["("]
    for index, literal in enumerate(clause):
        words += ("∨", *literal_words(literal)) if index else literal_words(literal)
    return (*words, ")")


def stated_answer(response: Sequence[str]) -> str | None:
    """The truth value of a response that is `Answer:` and that value, and nothing else.

    >>> stated_answer("Answer: True <|endoftext|>".split())
    'True'
    >>> stated_answer("Answer: True Try 2".split()) is None
    True
    """
    match [word for word in response if word != END]:
        case ["Answer:", answer] if answer in TRUTH:
            return answer
    return None


_SPELLINGS = {
    **dict.fromkeys(("or", "|", "||", "v", "+"), "∨"),
    **dict.fromkeys(("and", "&", "&&", "^", "*"), "∧"),
    **dict.fromkeys(("not", "~", "!", "-"), "¬"),
    "forall": "∀",
    "exists": "∃",
}
_PIECE = re.compile(r"<\|\w+\|>|[()∨∧¬∀∃:~!-]|\|\|?|&&?|[^\s()∨∧¬∀∃:~!|&-]+")


def _symbol(piece: str) -> str:
    """The paper's word for a piece of a formula: symbols and variables may be typed in ASCII.

    >>> [_symbol(piece) for piece in _PIECE.findall("(x1|~x2) and ( not 3 )")]
    ['(', '1', '∨', '¬', '2', ')', '∧', '(', '¬', '3', ')']
    """
    return re.sub(r"^[xX]_?(?=\d)", "", _SPELLINGS.get(piece.lower(), piece))


class Cursor:
    """A position in the words of a prompt, which names the place of what it did not expect."""

    def __init__(self, text: str) -> None:
        self._pieces: list[str] = _PIECE.findall(text)  # spaces may be left out
        self._words = [_symbol(piece) for piece in self._pieces]
        if not self._words:
            raise ParseError("text", "<nothing>", "a formula")
        self._next = 0
        self._part, self._part_start = "text", 0
        self.accept(START)

    def begin(self, part: str) -> None:
        """Count words from here on as those of a part, such as `clause 3`."""
        self._part, self._part_start = part, self._next

    def accept(self, word: str) -> bool:
        """Whether this word comes next; then step over it."""
        found = self._next < len(self._words) and self._words[self._next] == word
        self._next += found
        return found

    def expect(self, word: str, why: str) -> None:
        """Step over this word, or fail."""
        if not self.accept(word):
            raise self.error(f"{word} {why}")

    def variable(self) -> int:
        """Step over a variable."""
        word = self._words[self._next] if self._next < len(self._words) else ""
        if not re.fullmatch("[1-9][0-9]*", word):
            raise self.error("a variable such as 4")
        if len(word) > len(str(MAX_VARIABLES)) or int(word) > MAX_VARIABLES:
            raise self.error(f"a variable from 1 to {MAX_VARIABLES}")
        self._next += 1
        return int(word)

    def at_end(self) -> bool:
        """Whether nothing is left but the mark that ends a prompt."""
        return self._words[self._next : self._next + 2] in ([], [PROMPT_END])

    def error(self, expected: str) -> ParseError:
        """What to raise when the next word is not what was expected."""
        place = f"{self._part}, word {self._next - self._part_start + 1}"
        found = self._pieces[self._next] if self._next < len(self._pieces) else "<the end of the text>"
        return ParseError(place, found, expected)


def read_clause(cursor: Cursor) -> Clause:
    """A clause from the words `( a ∨ ¬ b )`."""
    cursor.expect("(", "to open a clause")
    literals: list[int] = []
    while not cursor.accept(")"):
        if literals:
            cursor.expect("∨", "or )")
        sign = -1 if cursor.accept("¬") else 1
        literals.append(sign * cursor.variable())
    return tuple(literals)


def looks_like_dimacs(text: str) -> bool:
    """Whether it starts as a DIMACS or QDIMACS file does: with a comment, the header, or a clause without header."""
    return re.match(r"\s*([cp](?!\w)|-?\d)", text) is not None


@cache
def literal_table(literal: int, variables: int) -> int:
    """The truth table of a literal as one integer: bit b is its value where variable v is bit v-1 of b.

    >>> bin(literal_table(1, 2)), bin(literal_table(-2, 2))
    ('0b1010', '0b11')
    """
    everywhere = (1 << (1 << variables)) - 1
    half = 1 << (abs(literal) - 1)
    # false in the first half of every 2 * half bits: the quotient has a one where each such stretch starts
    negative = everywhere // ((1 << 2 * half) - 1) * ((1 << half) - 1)
    return negative if literal < 0 else everywhere ^ negative


def clause_table(clause: Clause, variables: int) -> int:
    """The truth table of a clause."""
    table = 0
    for literal in clause:
        table |= literal_table(literal, variables)
    return table


def truth_table(clauses: Iterable[Clause], variables: int) -> int:
    """The truth table of a conjunction of clauses."""
    table = (1 << (1 << variables)) - 1
    for clause in clauses:
        table &= clause_table(clause, variables)
    return table
