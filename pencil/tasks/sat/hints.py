"""Where to look while a formula is copied.

The formulas of all open calls are live, and they are alike. So first a word finds the `Question:` that it belongs to,
and that one finds the `Question:` of the call around it; then a word knows which formula it is copied from. There it
finds what was copied last, and from there what comes next.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pencil.tasks.hints import Hint
from pencil.tasks.logic import TRUTH

OWN, AROUND, COPIED, NEXT = 4, 6, 8, 10
"""How far through the layers a word knows its formula, the one around it, how far that is copied, and what is next."""
SOURCE, DECISION, QUESTION = 0, 1, 2
"""The heads that look at what is copied, at the clause that decides what to do, and at the word before a formula."""
MARKS = ("∧", "∨", "¬")


@dataclass(frozen=True)
class Literal:
    """A literal and the places of its first and last word."""

    value: int
    start: int
    end: int


@dataclass(frozen=True)
class Clause:
    """The literals of a clause, and the places of its brackets."""

    literals: tuple[Literal, ...]
    start: int
    end: int

    @property
    def values(self) -> list[int]:
        """Its literals as numbers."""
        return [literal.value for literal in self.literals]


Formula = list[Clause]


def copying(words: Sequence[str]) -> list[Hint]:
    """For each word of a formula that is copied, and those before it, where it comes from and where it goes on.

    >>> words = "< ( 1 ∨ 2 ) > [CALL] Question: ( 1 ∨ 2 ) Try 1 = False [CALL] Question: ( 2 )".split()
    >>> [(hint.place, hint.looks) for hint in copying(words) if hint.place > 19 and hint.depth == NEXT]
    [(20, {0: [12]}), (21, {0: [13]}), (22, {0: [14]})]
    """
    return [hint for hint in _hints(words) if hint.place < len(words)]  # the last formula may be cut off


def _hints(words: Sequence[str]) -> Iterator[Hint]:
    heads = [0]  # the words before the formulas that are live
    formulas = [read_formula(words, 1)]
    assigned = 0  # nothing, in the prompt
    for place, word in enumerate(words[:-1]):
        if word == "=":
            variable = int(words[place - 1])
            assigned = variable if words[place + 1] == TRUTH[True] else -variable
            yield from _decide(place + 1, formulas[-1], assigned)
        elif word == "[CALL]":
            yield Hint(place + 1, OWN, looks={QUESTION: heads[-1:]})
            yield from _copy(place, formulas[-1], assigned)
            heads.append(place + 1)
            formulas.append(read_formula(words, place + 2))
        elif word in ("Found", "Try") and words[place - 1] == ")":
            yield from _choose(place, formulas[-1])
        elif word == "[RETURN]":
            heads.pop()
            formulas.pop()


def read_formula(words: Sequence[str], start: int) -> Formula:
    """The clauses from a place on."""
    formula: Formula = []
    opened, literals = start, list[Literal]()
    for place in range(start, len(words)):
        word = words[place]
        if word == "(":
            opened, literals = place, []
        elif word == ")":
            formula.append(Clause(tuple(literals), opened, place))
        elif word.isdigit():
            negated = words[place - 1] == "¬"
            literals.append(Literal(-int(word) if negated else int(word), place - negated, place))
        elif word not in MARKS:
            break
    return formula


def left_by(assigned: int, formula: Formula) -> list[int]:
    """The places of the words that stay when a literal is true, in their order."""
    places: list[int] = []
    for clause in formula:
        if assigned not in clause.values:
            places += range(clause.start - bool(places), clause.start + 1)  # with the ∧ before it
            kept = [literal for literal in clause.literals if literal.value != -assigned]
            for index, literal in enumerate(kept):
                places += range(literal.start - bool(index), literal.end + 1)  # with the ∨ before it
            places.append(clause.end)
    return places


def _copy(call: int, formula: Formula, assigned: int) -> Iterator[Hint]:
    """From [CALL] on, the word that comes next, in the end what follows the formula; before that, where the copy is."""
    places = left_by(assigned, formula)
    yield Hint(call, NEXT, looks={SOURCE: places[:1]})
    for place, source in enumerate([*places, formula[-1].end + 1], call + 1):
        yield Hint(place, NEXT, looks={SOURCE: [source]})
    starts = {clause.start for clause in formula}
    copied = formula[0].start - 1  # before the first clause
    for place, source in enumerate(places, call + 2):
        yield Hint(place, OWN, looks={QUESTION: [call + 1]})
        yield Hint(place, AROUND, looks={QUESTION: [call + 1]})
        if not {source, source + 1} & starts:  # between two clauses, the last one is what was copied
            copied = source
        yield Hint(place, COPIED, looks={SOURCE: [copied]})


def _choose(place: int, formula: Formula) -> Iterator[Hint]:
    """At a formula's end and at the word after it: the first clause of one literal, or the smallest variable."""
    units = [clause.literals[0] for clause in formula if len(clause.literals) == 1]
    literals = units[:1] or [literal for clause in formula for literal in clause.literals]
    chosen = min(literals, key=lambda literal: abs(literal.value))
    for asking in (place - 1, place):
        yield Hint(asking, NEXT, looks={DECISION: range(chosen.start, chosen.end + 1)})


def _decide(place: int, formula: Formula, assigned: int) -> Iterator[Hint]:
    """After an assignment: the clauses that it makes empty, or what is copied first."""
    empty = [clause.literals[0].end for clause in formula if clause.values == [-assigned]]
    if empty:
        yield Hint(place, NEXT, looks={DECISION: empty})
    elif left := left_by(assigned, formula):
        yield Hint(place, NEXT, looks={SOURCE: left[:1]})
