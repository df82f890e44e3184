"""DPLL that writes its trace, word for word as the paper prints it.

>>> write = TraceWriter()
>>> solve(((1, 2), (-1,)), write)
True
>>> " ".join(write.words)  # doctest: +NORMALIZE_WHITESPACE
'[CALL] Question: ( 1 ∨ 2 ) ∧ ( ¬ 1 ) Found ¬ 1 Let 1 = False
 [CALL] Question: ( 2 ) Found 2 Let 2 = True [SEP] Answer: True [RETURN] [SEP] Answer: True [RETURN]'
"""

from collections.abc import Iterable
from functools import lru_cache
from itertools import chain, islice

from pencil.tasks.logic import TRUTH, Clause, clause_words, literal_words
from pencil.trace import TraceWriter

Clauses = tuple[Clause, ...]


def solve(clauses: Clauses, write: TraceWriter) -> bool:
    """Decide a conjunction of clauses in a call of its own."""
    with write.call():
        write("Question:")
        write.extend(conjunction_words(clauses))
        satisfiable = decide_at_once(clauses)
        if satisfiable is None:
            satisfiable = _search(clauses, write)
        write.answer("Answer:", TRUTH[satisfiable])
    return satisfiable


def _search(clauses: Clauses, write: TraceWriter) -> bool:
    """Follow the first unit clause, else try the smallest variable, True before False."""
    unit = first_unit(clauses)
    if unit is not None:
        write("Found", *literal_words(unit), "Let", str(abs(unit)), "=", TRUTH[unit > 0])
        return _solve_rest(assign(clauses, unit), write)
    variable = smallest_variable(clauses)
    for literal in (variable, -variable):
        write("Try", str(variable), "=", TRUTH[literal > 0])
        if _solve_rest(assign(clauses, literal), write):
            return True
    return False


def _solve_rest(clauses: Clauses, write: TraceWriter) -> bool:
    """Decide what an assignment leaves; a call is needed only where something is left to decide."""
    decided = decide_at_once(clauses)
    return solve(clauses, write) if decided is None else decided


def decide_at_once(clauses: Clauses) -> bool | None:
    """True where no clause is left, False where an empty one is, None where there is more to do."""
    if not clauses:
        return True
    return False if () in clauses else None


def assign(clauses: Clauses, literal: int) -> Clauses:
    """What is left when a literal is true: clauses that hold it go, and its negation goes from the others."""
    negation = -literal
    return tuple(
        [
            clause if negation not in clause else tuple([other for other in clause if other != negation])
            for clause in clauses
            if literal not in clause
        ]
    )


def first_unit(clauses: Clauses) -> int | None:
    """The literal of the first clause that holds only one."""
    for clause in clauses:
        if len(clause) == 1:
            return clause[0]
    return None


def smallest_variable(clauses: Clauses) -> int:
    """The smallest variable that occurs."""
    return min(map(abs, chain.from_iterable(clauses)))


def conjunction_words(clauses: Clauses) -> Iterable[str]:
    """Clauses joined by ∧."""
    return islice(chain.from_iterable(map(_and_clause_words, clauses)), 1, None)


@lru_cache(maxsize=2**16)
def _and_clause_words(clause: Clause) -> tuple[str, ...]:
    return ("∧", *clause_words(clause))
