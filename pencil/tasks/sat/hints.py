"""What to have in mind and where to look while a formula is copied.

A model for it had best know the words before each word and the level of its call. Then the end of a clause knows all
of it, `Question:` knows the assignment, and the formula that is copied is the one a level above. What is left is where
in it. So a word first finds its `Question:`, and the assignment with it. Which literal is true then is more than a
variable and a value: a word has it in mind as one thing. Clauses are alike. So each word has in mind how far it is from
its own `Question:`, and soon how far the word is that it was copied from, and then the one that comes next. Only the
end of a clause knows whether it stays. So the end of the clause that the next word comes from is found before that
word.

What a word has copied of its clause may stand in several. The clause before it is known whole, and its end has found
where the formula goes on. So, where a model has layers enough, a word looks there, and once more for its own clause.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product
from math import cos, sin, tau

from pencil.tasks.hints import LAYERS, Hint
from pencil.tasks.logic import TRUTH
from pencil.tokens import CALL, PROMPT_END, RETURN, SEP, START

OWN, BEFORE, COPIED, CLAUSE, NEXT = 2, 4, 6, 8, 10
"""How far through the layers a word knows its assignment, its distance and the clause before it, how far the formula
is copied, which clause comes next, and which word."""
RESUMED, AGAIN = 7, 9
"""How far it knows where the formula goes on after the clause before it, and once more which clause comes next."""
STEPWISE = {BEFORE: 3, COPIED: 4, CLAUSE: 6}
"""What comes earlier where there are layers enough for that."""
ENOUGH = 8
SOURCE, DECISION, QUESTION = 0, 1, 1
"""The heads that look at what is copied, at the clauses that decide what to do, and at the word before a formula.

Two are enough, so that a model may have few and wide ones: what is to be found has many marks to be known by."""
PERIODS = (8, 26, 85, 280)
"""A distance is told by the quarter of each of them that it falls into; the shortest clause has 3 words."""
HERE = ("(", ")", "∧", "∨", "¬", "=", "Question:", "Answer:")
THERE = (CALL, SEP, RETURN, "Try", "Found", "Let", START, PROMPT_END)
"""The words that stand for a distance while they are in mind: that of a word itself, and that of what it copies.

Before they do, the latter stand for the negations of the first variables, in their order."""
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
Left = list[tuple[int, Clause]]
"""The places of words that are copied, each with its clause."""


def copying(words: Sequence[str], layers: int = LAYERS) -> list[Hint]:
    """For each word of a formula that is copied, and those before it, where it comes from and where it goes on.

    >>> words = "< ( 1 ∨ 2 ) > [CALL] Question: ( 1 ∨ 2 ) Try 1 = False [CALL] Question: ( 2 )".split()
    >>> [(hint.place, hint.looks) for hint in copying(words) if hint.place > 19 and hint.depth == NEXT]
    [(20, {0: [12]}), (21, {0: [13]}), (22, {0: [14]})]
    """
    hints = [hint for hint in _hints(words) if hint.place < len(words)]  # the last formula may be cut off
    if layers >= ENOUGH:
        return [replace(hint, depth=STEPWISE.get(hint.depth, hint.depth)) for hint in hints]
    return [hint for hint in hints if hint.depth not in (RESUMED, AGAIN)]


def _hints(words: Sequence[str]) -> Iterator[Hint]:
    formulas = [read_formula(words, 1)]  # those that are live
    assigned = 0  # nothing, in the prompt
    for place, word in enumerate(words[:-1]):
        if word == "=":
            variable = int(words[place - 1])
            assigned = variable if words[place + 1] == TRUTH[True] else -variable
            yield from _decide(place + 1, formulas[-1], assigned)
        elif word == CALL:
            left = left_by(assigned, formulas[-1])
            yield from _stand(place + 1, formulas[-1], assigned, left)
            yield from _go_on(place, formulas[-1], left)
            formulas.append(read_formula(words, place + 2))
        elif word in ("Found", "Try") and words[place - 1] == ")":
            yield from _choose(place, formulas[-1], words[place + 1])
        elif word == RETURN:
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


def left_by(assigned: int, formula: Formula) -> Left:
    """The words that stay when a literal is true, in their order."""
    words: Left = []
    for clause in formula:
        if assigned not in clause.values:
            places = [*range(clause.start - bool(words), clause.start + 1)]  # with the ∧ before it
            kept = [literal for literal in clause.literals if literal.value != -assigned]
            for index, literal in enumerate(kept):
                places += range(literal.start - bool(index), literal.end + 1)  # with the ∨ before it
            words += [(place, clause) for place in (*places, clause.end)]
    return words


@lru_cache(maxsize=2**13)
def distance(words: tuple[str, ...], tokens: int) -> dict[str, bool]:
    """A distance in words that are in mind."""
    waves = (wave(tau * tokens / period) for period, wave in product(PERIODS, (cos, sin)))
    return {word: height > 0 for word, height in zip(words, waves, strict=True)}


def _stand(question: int, formula: Formula, assigned: int, left: Left) -> Iterator[Hint]:
    """Over the words of a copy: what is known of it, and where its last word comes from."""
    around = copied = resumed = formula[0].start - 1
    variables = {abs(value) for clause in formula for value in clause.values}
    known = {str(variable): variable == abs(assigned) for variable in variables}
    known |= {TRUTH[True]: assigned > 0, TRUTH[False]: assigned < 0}
    bound = {str(variable): variable == assigned for variable in variables}
    bound |= {word: -variable == assigned for variable, word in enumerate(THERE, 1) if variable in variables}
    gone = [clause.end for clause in formula if assigned in clause.values] or [around]
    last_end, begun = question, False
    for place, (source, clause) in enumerate(left, question + 1):
        begun = source > clause.start and (begun or source in [literal.end for literal in clause.literals])
        copied = source if begun else copied  # before its first variable, a clause could be any
        resumed = source if place == last_end + 1 else resumed
        yield Hint(place, OWN, known, {QUESTION: [question]})
        yield Hint(place, BEFORE, bound | distance(HERE, place - question), {SOURCE: [last_end], QUESTION: [question]})
        yield Hint(place, COPIED, distance(THERE, copied - around), {SOURCE: [copied], DECISION: gone})
        yield Hint(place, RESUMED, distance(THERE, resumed - around), {SOURCE: [last_end]})
        if source == clause.end:
            last_end = place


def _go_on(call: int, formula: Formula, left: Left) -> Iterator[Hint]:
    """From [CALL] on: the end of the clause that comes next, then the next word itself; at last what follows all."""
    first, around, after = left[0], formula[0].start - 1, formula[-1].end + 1
    following = [(source, clause.end) for source, clause in (first, *left)]
    for place, (source, end) in enumerate([*following, (after, after)], call):
        for depth in (CLAUSE, AGAIN):
            yield Hint(place, depth, distance(THERE, source - around), {SOURCE: [end]})
        yield Hint(place, NEXT, looks={SOURCE: [source]})


def _choose(place: int, formula: Formula, tried: str) -> Iterator[Hint]:
    """At a formula's end and at the word after it: the first clause of one literal, or where what is tried is first."""
    units = [clause for clause in formula if len(clause.literals) == 1]
    if units:
        chosen = units[0].end
    else:
        literals = (literal for clause in formula for literal in clause.literals)
        chosen = next(literal.end for literal in literals if abs(literal.value) == int(tried))
    for asking in (place - 1, place):
        yield Hint(asking, NEXT, looks={DECISION: [chosen]})


def _decide(place: int, formula: Formula, assigned: int) -> Iterator[Hint]:
    """After an assignment: the clauses that it makes empty, or the one that is copied first."""
    empty = [clause.end for clause in formula if clause.values == [-assigned]]
    if empty:
        yield Hint(place, NEXT, looks={DECISION: empty})
    elif left := left_by(assigned, formula):
        yield Hint(place, CLAUSE, looks={SOURCE: [left[0][1].end]})
