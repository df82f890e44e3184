"""Where to look while a formula is simplified: at the formula it comes from, and at what was assigned.

A question repeats the clauses that an assignment leaves of the question around it. So where a clause starts and where
it ends, a learner is told, from the first layers to the last:

- MATCHED: where the last clause comes from, where the assignment is, and whether the clause has one literal only.
- SKIPPED: the literals that are true in the clauses left out since, and those that are false at the start of the next.
- FOUND: the first literal of the next clause; and what is assigned when there is none.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from pencil.tasks.hints import Hint
from pencil.tasks.logic import TRUTH
from pencil.tokens import RETURN

MATCHED, SKIPPED, FOUND = 4, 6, 8
NOWHERE = [0]
"""Where to look when there is nothing to be found: at the first word."""

Looks = Mapping[int, Sequence[int]]


@dataclass
class Clause:
    """A clause as it is printed: where it starts and ends, and its literals, each with the place of its variable."""

    start: int
    end: int = 0
    literals: dict[int, int] = field(default_factory=dict)


@dataclass
class Question:
    """A formula as it is printed, which comes from another one."""

    start: int
    source: "Question | None" = None
    clauses: list[Clause] = field(default_factory=list)
    assigned: int = 0
    """The literal that was made true last."""
    place: int = 0
    """Where that was said."""

    def left(self) -> list[int]:
        """Which clauses the assignment leaves."""
        return [index for index, clause in enumerate(self.clauses) if self.assigned not in clause.literals]


def hints(words: Sequence[str]) -> list[Hint]:
    """The hints of a trace, or of what is live and what is generated from there on."""
    found: list[Hint] = []
    around = [Question(0)]
    for place, word in enumerate(words):
        question = around[-1]
        clause = question.clauses[-1] if question.clauses else Clause(0)
        if word == "Question:":
            around.append(Question(place, question))
        elif word == RETURN and len(around) > 1:
            around.pop()
        elif word == "(":
            question.clauses.append(Clause(place))
            found += _before_clause(question, place)
        elif word == ")":
            clause.end = place
            found += _after_clause(question, place)
        elif word.isdigit() and question.clauses and not clause.end:
            clause.literals[-int(word) if words[place - 1] == "¬" else int(word)] = place
        elif word in ("Found", "Try"):
            found.append(_choose(question, place, unit=word == "Found"))
        elif word in TRUTH and words[place - 1] == "=":
            variable = int(words[place - 2])
            question.assigned, question.place = (variable if word == "True" else -variable), place
            found += _assigned(question)
    return found


def _before_clause(question: Question, place: int) -> Iterator[Hint]:
    """At a bracket that opens."""
    source = question.source
    if source is None:
        return
    left, at = source.left(), len(question.clauses) - 1
    before = left[at - 1] if at else -1
    yield Hint(place, MATCHED, looks={0: [source.clauses[before].end if at else source.start], 1: [source.place]})
    if at < len(left):
        (literal, first), *others = source.clauses[left[at]].literals.items()
        false = [first] if literal == -source.assigned else NOWHERE
        yield Hint(place, SKIPPED, looks={0: _true_between(source, before, left[at]), 1: false})
        literal, first = others[0] if literal == -source.assigned else (literal, first)
        yield Hint(place, FOUND, looks={0: [first - (literal < 0)]})


def _after_clause(question: Question, place: int) -> Iterator[Hint]:
    """At a bracket that closes."""
    source = question.source
    if source is None:
        return
    left, at = source.left(), len(question.clauses) - 1
    own, following = left[at], left[at + 1] if at + 1 < len(left) else len(source.clauses)
    is_unit = len(question.clauses[-1].literals) == 1
    yield Hint(place, MATCHED, {"Found": is_unit}, {0: [source.clauses[own].end], 1: [source.place]})
    yield Hint(place, SKIPPED, looks={0: _true_between(source, own, following)})
    looks = {0: [source.clauses[following].start] if following < len(source.clauses) else NOWHERE}
    units = [clause.end for clause in question.clauses if len(clause.literals) == 1]
    yield Hint(place, FOUND, looks={**looks, 1: units[:1] or NOWHERE})


def _true_between(source: Question, before: int, after: int) -> list[int]:
    """Where the literals are that make the clauses between two true."""
    return [clause.literals[source.assigned] for clause in source.clauses[before + 1 : after]] or NOWHERE


def _choose(question: Question, place: int, unit: bool) -> Hint:
    """The literal of the first clause that holds only one, or where the smallest variable is."""
    if unit:
        chosen = next(
            at - (literal < 0)
            for clause in question.clauses
            if len(clause.literals) == 1
            for literal, at in clause.literals.items()
        )
        return Hint(place, FOUND, looks={0: [chosen]})
    places = [(abs(literal), at) for clause in question.clauses for literal, at in clause.literals.items()]
    return Hint(place, FOUND, looks={0: [at for variable, at in places if variable == min(places)[0]]})


def _assigned(question: Question) -> Iterator[Hint]:
    """Whether that decides the question: it empties a clause, or it leaves none."""
    empty = [clause.end for clause in question.clauses if list(clause.literals) == [-question.assigned]]
    left = [question.clauses[index].end for index in question.left()]
    yield Hint(question.place, SKIPPED, looks={0: empty or NOWHERE, 1: left[:1] or NOWHERE})
    yield Hint(question.place, FOUND, {"False": bool(empty), "True": not left})
