"""Placing: which slots are needed, in which layer they are made, and where in the residual stream they live."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from pencil.theory.compiler.graph import Form, Graph, Head, Read, Sum, Unit


@dataclass(frozen=True)
class Layer:
    """What one layer computes: the slots that each head brings, the units, and the slots that sum units."""

    heads: dict[Head, list[int]] = field(default_factory=dict)
    units: dict[Unit, int] = field(default_factory=dict)
    """Each unit's number."""
    sums: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class Placement:
    """Coordinates of the residual stream for every needed slot, and the layers."""

    coordinates: dict[int, int]
    layers: tuple[Layer, ...]

    @property
    def width(self) -> int:
        """How many coordinates the residual stream needs."""
        return len(self.coordinates)


def place(graph: Graph, result: Sequence[Form]) -> Placement:
    """A coordinate for each slot that the result depends on, and for each a place in its layer."""
    slots = _in_order_of_time(graph, needed_slots(graph, result))
    depth = max(((graph.times[index] + 1) // 2 for index in slots), default=0)
    layers = tuple(Layer() for _ in range(depth))
    for index in slots:
        slot = graph.slots[index]
        layer = layers[(graph.times[index] - 1) // 2] if graph.times[index] else None
        if isinstance(slot, Read) and layer:
            layer.heads.setdefault(slot.head, []).append(index)
        elif isinstance(slot, Sum) and layer:
            layer.sums.append(index)
            for unit, _ in slot.terms:
                layer.units.setdefault(unit, len(layer.units))
    return Placement({index: coordinate for coordinate, index in enumerate(slots)}, layers)


def _in_order_of_time(graph: Graph, slots: Iterable[int]) -> list[int]:
    """Layer by layer, and what one head brings side by side."""
    first: dict[tuple[int, Head], int] = {}
    keys = {}
    for index in sorted(slots):
        slot, time = graph.slots[index], graph.times[index]
        group = first.setdefault((time, slot.head), index) if isinstance(slot, Read) else index
        keys[index] = (time, group, index)
    return sorted(keys, key=keys.__getitem__)


def needed_slots(graph: Graph, result: Sequence[Form]) -> set[int]:
    """The slots that forms depend on, directly or not."""
    needed: set[int] = set()
    waiting = list(result)
    while waiting:
        for index, _ in waiting.pop():
            if index not in needed:
                needed.add(index)
                waiting += inputs(graph, index)
    return needed


def inputs(graph: Graph, index: int) -> list[Form]:
    """The forms that a slot is computed from."""
    slot = graph.slots[index]
    if isinstance(slot, Read):
        return [*slot.head.query, *slot.head.key, slot.value]
    if isinstance(slot, Sum):
        return [form for unit, _ in slot.terms for form in (unit.value, unit.gate)]
    return []
