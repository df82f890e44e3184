"""Trying values in prefix order, with a trace word for word as the paper prints it.

>>> write = TraceWriter()
>>> solve(QuantifiedFormula((Bound("∃", 1),), ((1,),)), write)
True
>>> " ".join(write.words)  # doctest: +NORMALIZE_WHITESPACE
'[CALL] Question: prefix_from ∃ 1
 Try 1 = False [CALL] Question: evaluate 1 = False Check #0 ( 1 ) False [SEP] Answer: False [RETURN]
 Try 1 = True [CALL] Question: evaluate 1 = True Check #0 ( 1 ) True Formula = True [SEP] Answer: True [RETURN]
 [SEP] Answer: True [RETURN]'
"""

from typing import NamedTuple

from pencil.tasks.logic import TRUTH, Clause, clause_words
from pencil.tasks.qbf.instance import EXISTS, Bound, QuantifiedFormula
from pencil.trace import TraceWriter


def solve(formula: QuantifiedFormula, write: TraceWriter) -> bool:
    """Decide a formula, from its outermost quantifier on."""
    checks = [_Check.of(clause, index) for index, clause in enumerate(formula.clauses)]
    values = dict.fromkeys(sorted(variable for _, variable in formula.prefix), False)  # evaluated in numeric order
    return _decide(formula.prefix, checks, values, write)


class _Check(NamedTuple):
    """A clause, and what is written when it is found false or true."""

    clause: Clause
    words: tuple[tuple[str, ...], tuple[str, ...]]

    @classmethod
    def of(cls, clause: Clause, index: int) -> "_Check":
        announced = ("Check", f"#{index}", *clause_words(clause))
        return cls(clause, ((*announced, TRUTH[False]), (*announced, TRUTH[True])))


def _decide(prefix: tuple[Bound, ...], checks: list[_Check], values: dict[int, bool], write: TraceWriter) -> bool:
    """Try False, then True, for the first variable left; ∃ stops at True and ∀ at False."""
    if not prefix:
        return _evaluate(checks, values, write)
    (quantifier, variable), rest = prefix[0], prefix[1:]
    with write.call():
        write("Question:", "prefix_from", quantifier, str(variable))
        for value in (False, True):
            write("Try", str(variable), "=", TRUTH[value])
            values[variable] = value
            holds = _decide(rest, checks, values, write)
            if holds == (quantifier == EXISTS):
                break
        write.answer("Answer:", TRUTH[holds])
    return holds


def _evaluate(checks: list[_Check], values: dict[int, bool], write: TraceWriter) -> bool:
    """Check clause after clause under an assignment, up to the first false one."""
    with write.call():
        write("Question:", "evaluate")
        write.extend([word for variable, value in values.items() for word in (str(variable), "=", TRUTH[value])])
        holds = _check_all(checks, values, write)
        write.answer("Answer:", TRUTH[holds])
    return holds


def _check_all(checks: list[_Check], values: dict[int, bool], write: TraceWriter) -> bool:
    true_literals = {variable if value else -variable for variable, value in values.items()}
    for clause, words in checks:
        holds = not true_literals.isdisjoint(clause)
        write.extend(words[holds])
        if not holds:
            return False
    write("Formula", "=", "True")
    return True
