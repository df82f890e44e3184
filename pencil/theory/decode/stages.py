"""The layers of a transformer as functions of the residual stream, built from a plan without a scan in them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import itemgetter, mul
from typing import Any

from pencil.theory.decode.heads import Best, Grouped, Match, Number, RunningHead, Vector
from pencil.theory.decode.plan import Plan
from pencil.theory.decode.sparse import ONE, HeadTerms, LayerTerms, Terms, UnitTerms, weighted

Stream = list[Number]
"""The residual stream at one position."""
Function = Callable[[Stream], Number]
VectorFunction = Callable[[Stream], Vector]
HeadStep = Callable[[Stream, Stream, int], None]
"""Reads one stream, writes to another, at a position."""


@dataclass(frozen=True)
class Stage:
    """A layer as functions of the residual stream."""

    steps: list[HeadStep]
    writes: list[tuple[int, Function]]
    """What the feed-forward adds to each coordinate."""
    in_place: bool
    """Whether the feed-forward may write while it reads, and need not add."""

    def feed_forward(self, stream: Stream) -> None:
        """Add what the units give."""
        source = stream.copy()
        for coordinate, amount in self.writes:
            stream[coordinate] += amount(source)


class Stages:
    """Builds the stages of a plan; all that it builds shares the memories of the heads."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self._memories = [[_make_memory(head) for head in layer.heads] for layer in plan.layers]

    def forget(self) -> None:
        """Empty the memories of all heads."""
        for memories in self._memories:
            for memory in memories:
                memory.clear()

    def build(self, *, prefix: bool = False) -> "list[Stage]":
        """The layers as functions; for a prefix only what later keys and values need."""
        every = {c for layer in self.plan.layers for c in (*layer.units, *_outs(layer))}
        wanted = self.plan.needed_by_keys() if prefix else every
        return [self._stage(layer, self._memories[index], wanted) for index, layer in enumerate(self.plan.layers)]

    def _stage(self, layer: LayerTerms, memories: Sequence[RunningHead], wanted: set[int]) -> "Stage":
        steps = [self._head(head, memory, wanted) for head, memory in zip(layer.heads, memories, strict=True)]
        writes = [(c, self._units_function(units)) for c, units in layer.units.items() if c in wanted]
        if {c for head in layer.heads for row in (*head.query, *head.key, *head.values) for c in row} & set(
            _outs(layer)
        ):
            steps = [_on_a_copy(steps)]
        return Stage(steps, writes, self._units_in_place(layer))

    def _units_in_place(self, layer: LayerTerms) -> bool:
        """Whether no unit reads what another writes, and nothing was there before."""
        read = {c for units in layer.units.values() for unit in units for c in (*unit.value, *unit.gate)}
        return not read & layer.units.keys() and layer.units.keys() <= self.plan.written_once

    def _head(self, head: HeadTerms, memory: RunningHead, wanted: set[int]) -> "HeadStep":
        """Tell a head of a position, and write what it brings if that is wanted."""
        add, read = memory.add, memory.read_total if head.sums else memory.read
        key = function(head.key[0]) if head.kind == "best" else vector_function(head.key)
        value, query = vector_function(head.values), _query_function(head)
        first, after = min(head.out, default=0), min(head.out, default=0) + len(head.values)
        if not wanted & head.out.keys():
            return lambda source, stream, position: add(key(source), value(source), position)
        if head.out == {first + i: {i: 1} for i in range(after - first)} and head.out.keys() <= self.plan.written_once:

            def copy(source: Stream, stream: Stream, position: int) -> None:
                add(key(source), value(source), position)
                stream[first:after] = read(query(source))

            return copy
        out = [(c, function(row)) for c, row in head.out.items()]

        def mix(source: Stream, stream: Stream, position: int) -> None:
            add(key(source), value(source), position)
            vector = list(read(query(source)))
            for coordinate, part in out:
                stream[coordinate] += part(vector)

        return mix

    def _units_function(self, units: Sequence[UnitTerms]) -> Function:
        """What a feed-forward layer adds to one coordinate."""
        parts: list[Function] = []
        knots: dict[tuple[tuple[int, Number], ...], list[tuple[Number, Number]]] = {}
        for unit in units:
            if unit.value.keys() == {ONE}:
                base = tuple(sorted((c, factor) for c, factor in unit.gate.items() if c != ONE))
                knots.setdefault(base, []).append((unit.gate.get(ONE, 0), unit.weight * unit.value[ONE]))
            elif self.plan.multiplies_by_n(unit) and self.plan.carries_sum(unit):
                parts.append(function(weighted([(unit.weight, unit.value)])))
            elif _is_product(units):
                return _product(function(unit.value), function(unit.gate), unit.weight)
            else:
                parts.append(_gated(function(unit.value), function(unit.gate), unit.weight))
        parts += [_hinges(function(dict(base)), shifts) for base, shifts in knots.items()]
        return parts[0] if len(parts) == 1 else lambda stream: sum([part(stream) for part in parts])


def _on_a_copy(steps: Sequence[HeadStep]) -> HeadStep:
    """Steps that must not see what the others write."""

    def together(source: Stream, stream: Stream, position: int) -> None:
        before = source.copy()
        for step in steps:
            step(before, stream, position)

    return together


def function(terms: Terms) -> Function:
    """A sparse row as a function of the stream."""
    constant = terms.get(ONE, 0)
    pairs = [(c, factor) for c, factor in terms.items() if c != ONE]
    if len(pairs) == 1 and pairs[0][1] == 1 and not constant:
        return itemgetter(pairs[0][0])
    if len(pairs) == 1:
        [(i, a)] = pairs
        return lambda stream: a * stream[i] + constant
    if len(pairs) == 2:
        (i, a), (j, b) = sorted(pairs, key=itemgetter(1), reverse=True)
        if (a, b) == (1, -1):
            return lambda stream: stream[i] - stream[j] + constant
        return lambda stream: a * stream[i] + b * stream[j] + constant
    if len(pairs) == 3:
        (i, a), (j, b), (k, c) = pairs
        return lambda stream: a * stream[i] + b * stream[j] + c * stream[k] + constant
    if not pairs:
        return lambda stream: constant
    factors, read = [factor for _, factor in pairs], itemgetter(*(c for c, _ in pairs))
    return lambda stream: sum(map(mul, factors, read(stream)), constant)


def vector_function(rows: Sequence[Terms]) -> VectorFunction:
    """Several sparse rows as one function."""
    if len(rows) > 1 and all(len(row) == 1 and ONE not in row and set(row.values()) == {1} for row in rows):
        return itemgetter(*(c for row in rows for c in row))
    functions = [function(row) for row in rows]
    if len(functions) == 1:
        [only] = functions
        return lambda stream: (only(stream),)
    if len(functions) == 2:
        first, second = functions
        return lambda stream: (first(stream), second(stream))
    return lambda stream: tuple([part(stream) for part in functions])


def _is_product(units: Sequence[UnitTerms]) -> bool:
    """Whether two units are x[y]+ - x[-y]+, which is x * y."""
    if len(units) != 2:
        return False
    one, other = units
    return one.value == other.value and one.weight == -other.weight and one.gate == weighted([(-1, other.gate)])


def _product(x: Function, y: Function, weight: Number) -> Function:
    return lambda stream: weight * x(stream) * y(stream)


def _gated(value: Function, gate: Function, weight: Number) -> Function:
    def unit(stream: Stream) -> Number:
        opening = gate(stream)
        return weight * value(stream) * opening if opening > 0 else 0

    return unit


def _hinges(base: Function, knots: Sequence[tuple[Number, Number]]) -> Function:
    """The sum of weight * [base + shift]+: ReLU units that differ by a constant only."""
    if len(knots) == 1:
        [(only, factor)] = knots
        return lambda stream: factor * opening if (opening := base(stream) + only) > 0 else 0

    def total(stream: Stream) -> Number:
        distance = base(stream)
        result: Number = 0
        for shift, weight in knots:
            opening = distance + shift
            if opening > 0:
                result += weight * opening
        return result

    return total


def _query_function(head: HeadTerms) -> Callable[[Stream], Any]:
    """What the memory is asked with: nothing, an integer, or a vector."""
    if head.kind == "best":
        return lambda stream: None
    return function(head.query[0]) if head.kind == "match" else vector_function(head.query)


def _make_memory(head: HeadTerms) -> RunningHead:
    if head.kind == "best":
        equal = all(value == head.key[0] for value in head.values)  # of equal values, the last is as good as the mean
        return Best(rightmost=head.rightmost or (equal and not head.sums))
    return Match() if head.kind == "match" else Grouped(rightmost=head.rightmost)


def _outs(layer: LayerTerms) -> list[int]:
    return [c for head in layer.heads for c in head.out]
