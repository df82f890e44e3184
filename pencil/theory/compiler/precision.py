"""Precision: up to which context length floating point computes a compiled program exactly.

For a length n, every slot gets a bound on its size and on its rounding error. A float with p bits rounds by at most
u = 2^-p times the size, and integers below 2^p not at all. Then a length is safe if, for every head,

- the scores are computed without error, or are one and the same product at every position, or
- different scores stay apart: twice the error of a score is below the smallest gap between scores, and positions that
  tie hold equal values or do not exist. (A running maximum, whose value is its score, needs no gap.)

and if the error of the result stays below 1/4. For the Turing machine program the largest scores are about 3n^3, from
n * (2qk - k^2) + j with |q|, |k| <= n, so the limit is near the cube root of 2^p.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from pencil.theory.compiler.graph import Feature, Form, Graph, Head, Place, Read, Sum, Unit, is_constant
from pencil.theory.compiler.place import needed_slots
from pencil.theory.fasp.expr import Ties

LONGEST = 2**30
"""Lengths beyond this are not looked at."""


def exact_length(graph: Graph, result: Sequence[Form], bits: int) -> int:
    """The largest length, up to `LONGEST`, that is proven exact for floats with this many bits."""
    slots = sorted(needed_slots(graph, result))
    low, high = 0, LONGEST + 1  # low is safe, high is not
    while high - low > 1:
        middle = (low + high) // 2
        safe = _Analysis(graph, middle, bits).is_safe(slots, result)
        low, high = (middle, high) if safe else (low, middle)
    return low


@dataclass(frozen=True)
class Bound:
    """A number's largest size, its largest error, and whether it is an integer in exact arithmetic."""

    size: float
    error: float
    integer: bool


class _Analysis:
    """Sizes and errors of all slots at one length; slots come after what they depend on."""

    def __init__(self, graph: Graph, length: int, bits: int) -> None:
        self.graph, self.length, self.bits = graph, length, bits
        self.rounding = 2.0**-bits
        self.bounds: dict[int, Bound] = {}

    def is_safe(self, slots: Sequence[int], result: Sequence[Form]) -> bool:
        heads: dict[Head, bool] = {}
        for index in slots:
            slot = self.graph.slots[index]
            if isinstance(slot, Read) and slot.value != _score_of_running_maximum(slot.head):
                heads.setdefault(slot.head, self._keeps_order(slot.head))
            self.bounds[index] = self._slot(slot)
        return all(heads.values()) and all(self._form(form).error < 0.25 for form in result)

    def _slot(self, slot: Feature | Place | Read | Sum) -> Bound:
        if isinstance(slot, Feature):
            rows = (1,) if slot.rows is None else slot.rows
            return Bound(max(abs(float(row)) for row in rows), 0.0, all(isinstance(row, int) for row in rows))
        if isinstance(slot, Place):
            return Bound(float(self.length), 0.0, True)
        if isinstance(slot, Read):
            return self._read(slot)
        total = self._total([(self._unit(unit), float(weight)) for unit, weight in slot.terms])
        return Bound(1 + total.error, total.error, True) if slot.boolean else total

    def _read(self, slot: Read) -> Bound:
        """A single position is read as it is; sums of integers are exact, and so is dividing equal ones again."""
        value, ties = self._form(slot.value), slot.head.ties
        exact_sum = value.integer and value.error == 0 and value.size * self.length < 2**self.bits
        roundings = 0 if exact_sum or ties is Ties.UNIQUE else self.length
        roundings += ties is Ties.AVERAGE or (ties is Ties.EQUAL and not exact_sum)  # the division
        error = value.error + roundings * self.rounding * (value.size + value.error)
        return Bound(value.size, error, value.integer and ties is not Ties.AVERAGE)

    def _unit(self, unit: Unit) -> Bound:
        return self._product(self._form(unit.value), self._form(unit.gate))

    def _product(self, a: Bound, b: Bound) -> Bound:
        size = a.size * b.size
        error = a.size * b.error + b.size * a.error + a.error * b.error
        return self._rounded(size, error, a.integer and b.integer)

    def _form(self, form: Form) -> Bound:
        return self._total([(self.bounds[index], float(factor)) for index, factor in form])

    def _total(self, terms: Sequence[tuple[Bound, float]]) -> Bound:
        """A sum in any order, with one rounding for each product and each addition."""
        size = sum(abs(factor) * bound.size for bound, factor in terms)
        error = sum(abs(factor) * bound.error for bound, factor in terms)
        integer = all(bound.integer and factor.is_integer() for bound, factor in terms)
        return self._rounded(size, error, integer, len(terms) if len(terms) > 1 else 0)

    def _rounded(self, size: float, error: float, integer: bool, roundings: int = 1) -> Bound:
        """Integers that fit are not rounded."""
        if not (integer and error == 0 and size < 2**self.bits):
            error += (roundings + 1) * self.rounding * (size + error)
        return Bound(size, error, integer)

    def _keeps_order(self, head: Head) -> bool:
        products = [
            (self._product(self._form(query), self._form(key)), 1.0)
            for query, key in zip(head.query, head.key, strict=True)
        ]
        score = self._total(products)
        if head.ties is Ties.AVERAGE:
            return score.error == 0 or (len(head.key) == 1 and is_constant(head.key[0]))
        return 2 * score.error < float(self.length) ** -head.inverse_gap


def _score_of_running_maximum(head: Head) -> Form | None:
    """The score's form, if the query is the constant 1."""
    return head.key[0] if len(head.query) == 1 and head.query[0] == ((0, 1),) else None
