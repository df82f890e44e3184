"""The compiler's middle form: slots of the residual stream, and linear forms over them.

A slot is a number that the residual stream carries: a token feature, the position, what a head reads, or a sum of
feed-forward units. Everything linear is a `Form`, folded into the matrices of whoever reads it. Equal slots are made
once. Slots have times: embeddings 0, attention odd, feed-forward even; each slot takes the earliest time it can.

>>> graph = Graph()
>>> n = graph.slot(Place())
>>> square = graph.slot(Sum(((Unit(n, n), 1),)))
>>> [graph.time(form) for form in (graph.one, n, square)]
[0, 0, 2]
"""

from collections.abc import Iterable
from dataclasses import dataclass

from pencil.theory.fasp.expr import Number, Ties

Form = tuple[tuple[int, Number], ...]
"""A linear form: pairs of slot and coefficient, in the order of the slots."""


@dataclass(frozen=True)
class Feature:
    """A coordinate of the token embedding, for each token of the alphabet; None is the constant 1."""

    rows: tuple[Number, ...] | None


@dataclass(frozen=True)
class Place:
    """The positional embedding."""


@dataclass(frozen=True)
class Unit:
    """A feed-forward unit, value * [gate]+."""

    value: Form
    gate: Form


@dataclass(frozen=True)
class Sum:
    """What a feed-forward layer writes to one slot."""

    terms: tuple[tuple[Unit, Number], ...]
    boolean: bool = False


@dataclass(frozen=True)
class Head:
    """Queries and keys; all reads with equal ones share a head."""

    query: tuple[Form, ...]
    key: tuple[Form, ...]
    ties: Ties
    inverse_gap: int


@dataclass(frozen=True)
class Read:
    """One value that a head brings."""

    head: Head
    value: Form


Slot = Feature | Place | Sum | Read


class Graph:
    """All slots, each made once, with their times."""

    def __init__(self) -> None:
        self.slots: list[Slot] = []
        self.times: list[int] = []
        self._indices: dict[Slot, int] = {}
        self.one: Form = self.slot(Feature(None))

    def slot(self, slot: Slot) -> Form:
        """The form that is just this slot."""
        index = self._indices.get(slot)
        if index is None:
            index = self._indices[slot] = len(self.slots)
            self.slots.append(slot)
            self.times.append(self._earliest(slot))
        return ((index, 1),)

    def constant(self, value: Number) -> Form:
        """A number as a form."""
        return ((0, value),) if value else ()

    def unit(self, value: Form, gate: Form) -> Form:
        """value * [gate]+, as a unit only where it is not linear anyway."""
        if not value or is_constant(gate):
            return combine([(max(constant_of(gate), 0), value)])
        if self.is_nonnegative(gate) and is_constant(value):
            return combine([(constant_of(value), gate)])
        return self.slot(Sum(((Unit(value, gate), 1),)))

    def time(self, *forms: Form) -> int:
        """When all of these are known."""
        times = self.times
        return max((times[index] for form in forms for index, _ in form), default=0)

    def is_nonnegative(self, form: Form) -> bool:
        """Whether a form is plainly never negative."""
        return all(factor > 0 and self._slot_is_nonnegative(self.slots[index]) for index, factor in form)

    def _slot_is_nonnegative(self, slot: Slot) -> bool:
        if isinstance(slot, Feature):
            return slot.rows is None or min(slot.rows) >= 0
        if isinstance(slot, Read):
            return self.is_nonnegative(slot.value)
        return isinstance(slot, Place) or slot.boolean

    def _earliest(self, slot: Slot) -> int:
        if isinstance(slot, Read):
            return next_odd(self.time(*slot.head.query, *slot.head.key, slot.value))
        if isinstance(slot, Sum):
            return next_even(self.time(*(form for unit, _ in slot.terms for form in (unit.value, unit.gate))))
        return 0


def next_odd(time: int) -> int:
    """The first attention after a time."""
    return time + 1 + time % 2


def next_even(time: int) -> int:
    """The first feed-forward layer after a time."""
    return time + 2 - time % 2


def combine(terms: Iterable[tuple[Number, Form]]) -> Form:
    """A sum of forms, each times a number."""
    total: dict[int, Number] = {}
    for factor, form in terms:
        for index, coefficient in form:
            total[index] = total.get(index, 0) + factor * coefficient
    return tuple(sorted((index, coefficient) for index, coefficient in total.items() if coefficient))


def is_constant(form: Form) -> bool:
    """Whether a form reads nothing but the constant 1."""
    return not form or (len(form) == 1 and form[0][0] == 0)


def constant_of(form: Form) -> Number:
    """The constant part of a form."""
    return form[0][1] if form and form[0][0] == 0 else 0
