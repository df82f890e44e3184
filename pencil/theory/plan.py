"""What a transformer's weights do, read off the matrices: the plan of a fast decoder.

A coordinate of the residual stream can be recognised as constant, as the position n, as n times something (a unit whose
gate is n), or as a uniform average that is only ever multiplied by n, in which case the sum is carried instead.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from operator import itemgetter, mul
from typing import Any

import numpy as np

from pencil.theory.fasp.expr import PositionKind
from pencil.theory.running import Best, Grouped, Match, Number, RunningHead, Vector
from pencil.theory.weights import HeadWeights, LayerWeights, Matrix, Weights

Terms = dict[int, Number]
"""A sparse row: coordinate to coefficient. Constant coordinates are joined under `ONE`."""
ONE = -1
Stream = list[Number]
"""The residual stream at one position."""
Function = Callable[[Stream], Number]
VectorFunction = Callable[[Stream], Vector]

FEATURES: dict[PositionKind, Callable[[int], Number]] = {
    PositionKind.NONE: lambda position: 0,
    PositionKind.IS_FIRST: lambda position: int(position == 1),
    PositionKind.N: lambda position: position,
}


@dataclass(frozen=True)
class UnitTerms:
    """A feed-forward unit value * [gate]+, as it enters one coordinate."""

    value: Terms
    gate: Terms
    weight: Number


@dataclass
class HeadTerms:
    """A head as sparse rows, and what is known about it."""

    pairs: list[tuple[Terms, Terms]]
    """Query and key rows that belong together."""
    values: list[Terms]
    out: dict[int, Terms]
    """For each coordinate that is written: value's number to coefficient."""
    kind: str = "grouped"
    rightmost: bool = False
    query: list[Terms] = field(default_factory=list)
    key: list[Terms] = field(default_factory=list)
    sums: bool = False
    """Whether sums are written in place of averages."""


@dataclass
class LayerTerms:
    """A layer as sparse rows."""

    heads: list[HeadTerms]
    units: dict[int, list[UnitTerms]]
    """For each coordinate that is written."""


class Plan:
    """The sparse rows of all matrices, and which coordinates are special."""

    def __init__(self, weights: Weights) -> None:
        self.embedding = [[exact(entry) for entry in row] for row in weights.token]
        self.place = _place(weights)
        written = _written(weights)
        self.constants = {
            c: self.embedding[0][c]
            for c in range(weights.width)
            if c not in written and not weights.place[c] and len({row[c] for row in self.embedding}) == 1
        }
        self.n = _position_coordinate(weights, written)
        self.terms = [self._layer_terms(layer) for layer in weights.layers]
        self.output = [self._row(row) for row in weights.output]
        embedded = weights.token.any(axis=0) | (weights.place != 0)
        self.written_once = {c for c in written if written[c] == 1 and not embedded[c]}
        self._find_sums()
        self.integers = self._embedded_integers()
        for layer in self.terms:
            self._classify_layer(layer)
        self._memories = [[_make_memory(head) for head in layer.heads] for layer in self.terms]

    def forget(self) -> None:
        """Empty the memories of all heads."""
        for memories in self._memories:
            for memory in memories:
                memory.clear()

    # ---- sparse rows

    def _row(self, row: Matrix) -> Terms:
        terms: Terms = {}
        for coordinate in row.nonzero()[0].tolist():
            factor = exact(row[coordinate])
            if coordinate in self.constants:
                terms[ONE] = terms.get(ONE, 0) + factor * self.constants[coordinate]
            else:
                terms[coordinate] = factor
        return {coordinate: factor for coordinate, factor in terms.items() if factor}

    def _layer_terms(self, layer: LayerWeights) -> LayerTerms:
        values, gates = [self._row(row) for row in layer.value], [self._row(row) for row in layer.gate]
        units = {
            c: [UnitTerms(values[unit], gates[unit], exact(weight)) for unit, weight in _entries(layer.out[c])]
            for c in _written_by(layer.out)
        }
        return LayerTerms([self._head_terms(head) for head in layer.heads], units)

    def _head_terms(self, head: HeadWeights) -> HeadTerms:
        pairs = [(self._row(q), self._row(k)) for q, k in zip(head.query, head.key, strict=True)]
        out = {c: {i: exact(w) for i, w in _entries(head.out[c])} for c in _written_by(head.out)}
        return HeadTerms([(q, k) for q, k in pairs if q and k], [self._row(row) for row in head.value], out)

    def _readers(self) -> Iterable[Terms]:
        """Every row that is read, except those of units."""
        yield from self.output
        for layer in self.terms:
            for head in layer.heads:
                yield from (row for pair in head.pairs for row in pair)
                yield from head.values

    # ---- averages that are only multiplied by n

    def _find_sums(self) -> None:
        """Mark the uniform heads all of whose averages are read by nothing but units n * average."""
        read = {coordinate for row in self._readers() for coordinate in row}
        for layer in self.terms:
            for units in layer.units.values():
                for unit in units:
                    read.update(unit.gate if self._multiplies_by_n(unit) else {**unit.gate, **unit.value})
        for layer in self.terms:
            for head in layer.heads:
                uniform = all(key.keys() <= {ONE} for _, key in head.pairs)
                head.sums = uniform and not read & head.out.keys() and head.out.keys() <= self.written_once
        self.sums = {c for layer in self.terms for head in layer.heads if head.sums for c in head.out}

    def _multiplies_by_n(self, unit: UnitTerms) -> bool:
        return len(unit.value) == 1 and self.n is not None and unit.gate == {self.n: 1}

    def _carries_sum(self, unit: UnitTerms) -> bool:
        return unit.value.keys() <= self.sums

    # ---- what each head must remember

    def _classify_layer(self, layer: LayerTerms) -> None:
        for head in layer.heads:
            self._classify(head)
        for head in layer.heads:
            self._note_integers(head.out, [self._head_gives_integers(head, row) for row in head.out.values()])
        rows = [all(self._unit_is_integer(unit) for unit in units) for units in layer.units.values()]
        self._note_integers(layer.units, rows)

    def _classify(self, head: HeadTerms) -> None:
        core = self._core(head.pairs)
        pairs = head.pairs if core is None else core
        head.rightmost = core is not None
        changing = [(query, key) for query, key in pairs if query.keys() - {ONE}]
        fixed = _weighted((query.get(ONE, 0), key) for query, key in pairs if not query.keys() - {ONE})
        if not changing:
            head.kind, head.query, head.key = "best", [], [fixed]
        elif len(changing) == 1 and head.rightmost:
            head.kind, head.query, head.key = "match", [changing[0][0]], [changing[0][1], fixed]
        else:
            head.query, head.key = [query for query, _ in pairs], [key for _, key in pairs]

    def _core(self, pairs: list[tuple[Terms, Terms]]) -> list[tuple[Terms, Terms]] | None:
        """The pairs of q.k where the score is n * (q.k) + j with integers q and k: then the last best match wins."""
        ties = [(query, key) for query, key in pairs if query == {ONE: 1} and key == {self.n: 1}]
        if self.n is None or len(ties) != 1:
            return None
        core = [(self._divided_by_n(query), key) for query, key in pairs if (query, key) != ties[0]]
        found = [(query, key) for query, key in core if query is not None]
        integral = all(self._is_integer(row) for pair in found for row in pair)
        return found if len(found) == len(core) and integral else None

    def _divided_by_n(self, query: Terms) -> Terms | None:
        """f, if a row is n * f: its terms are n itself, or units n * f that nothing else is added to."""
        parts: list[tuple[Number, Terms]] = []
        for coordinate, factor in query.items():
            units = [unit for layer in self.terms for unit in layer.units.get(coordinate, [])]
            if coordinate == self.n:
                parts.append((factor, {ONE: 1}))
            elif coordinate in self.written_once and len(units) == 1 and units[0].gate == {self.n: 1}:
                if self._carries_sum(units[0]):
                    return None
                parts.append((factor * units[0].weight, units[0].value))
            else:
                return None
        return _weighted(parts)

    # ---- integers

    def _embedded_integers(self) -> set[int]:
        width = len(self.embedding[0])
        return {c for c in range(width) if all(isinstance(row[c], int) for row in self.embedding)} | {ONE}

    def _is_integer(self, row: Terms) -> bool:
        return row.keys() <= self.integers and all(isinstance(factor, int) for factor in row.values())

    def _unit_is_integer(self, unit: UnitTerms) -> bool:
        return isinstance(unit.weight, int) and self._is_integer(unit.value) and self._is_integer(unit.gate)

    def _head_gives_integers(self, head: HeadTerms, row: Terms) -> bool:
        """An average of integers need not be one, unless all that tie are equal: then the value is the score."""
        values = [head.values[index] for index in row]
        whole = head.rightmost or head.sums or (head.kind == "best" and all(value == head.key[0] for value in values))
        return whole and all(map(self._is_integer, values)) and all(isinstance(w, int) for w in row.values())

    def _note_integers(self, coordinates: Iterable[int], whole: Sequence[bool]) -> None:
        self.integers -= {coordinate for coordinate, is_whole in zip(coordinates, whole, strict=True) if not is_whole}

    # ---- functions of the stream

    def stages(self, *, prefix: bool = False) -> "list[Stage]":
        """The layers as functions; for a prefix only what later keys and values need. All share the heads' memories."""
        every = {c for layer in self.terms for c in (*layer.units, *_outs(layer))}
        wanted = self._needed_by_keys() if prefix else every
        return [self._stage(layer, self._memories[index], wanted) for index, layer in enumerate(self.terms)]

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
        return not read & layer.units.keys() and layer.units.keys() <= self.written_once

    def _head(self, head: HeadTerms, memory: RunningHead, wanted: set[int]) -> "HeadStep":
        """Tell a head of a position, and write what it brings if that is wanted."""
        add, read = memory.add, memory.read_total if head.sums else memory.read
        key = function(head.key[0]) if head.kind == "best" else vector_function(head.key)
        value, query = vector_function(head.values), _query_function(head)
        first, after = min(head.out, default=0), min(head.out, default=0) + len(head.values)
        if not wanted & head.out.keys():
            return lambda source, stream, position: add(key(source), value(source), position)
        if head.out == {first + i: {i: 1} for i in range(after - first)} and head.out.keys() <= self.written_once:

            def copy(source: Stream, stream: Stream, position: int) -> None:
                add(key(source), value(source), position)
                stream[first:after] = read(query(source))

            return copy
        out = [(c, function(row)) for c, row in head.out.items()]

        def mix(source: Stream, stream: Stream, position: int) -> None:
            add(key(source), value(source), position)
            vector = list(read(query(source)))
            for coordinate, weighted in out:
                stream[coordinate] += weighted(vector)

        return mix

    def _needed_by_keys(self) -> set[int]:
        """The coordinates that any key or value depends on."""
        needed: set[int] = set()
        for layer in reversed(self.terms):
            for units in (units for c, units in layer.units.items() if c in needed):
                needed.update(c for unit in units for c in (*unit.value, *unit.gate))
            for head in layer.heads:
                queries = head.query if needed & head.out.keys() else []
                needed.update(c for row in (*head.key, *head.values, *queries) for c in row)
        return needed

    def _units_function(self, units: Sequence[UnitTerms]) -> Function:
        """What a feed-forward layer adds to one coordinate."""
        parts: list[Function] = []
        knots: dict[tuple[tuple[int, Number], ...], list[tuple[Number, Number]]] = {}
        for unit in units:
            if unit.value.keys() == {ONE}:
                base = tuple(sorted((c, factor) for c, factor in unit.gate.items() if c != ONE))
                knots.setdefault(base, []).append((unit.gate.get(ONE, 0), unit.weight * unit.value[ONE]))
            elif self._multiplies_by_n(unit) and self._carries_sum(unit):
                parts.append(function(_weighted([(unit.weight, unit.value)])))
            elif _is_product(units):
                return _product(function(unit.value), function(unit.gate), unit.weight)
            else:
                parts.append(_gated(function(unit.value), function(unit.gate), unit.weight))
        parts += [_hinges(function(dict(base)), shifts) for base, shifts in knots.items()]
        return parts[0] if len(parts) == 1 else lambda stream: sum([part(stream) for part in parts])

    def outputs(self) -> list[Function]:
        """The result's coordinates."""
        return [function(row) for row in self.output]

    def last_inputs(self) -> Callable[[Stream], Any]:
        """All that the last feed-forward and the output read."""
        read = {c for row in self.output for c in row}
        for layer in self.terms[-1:]:
            read -= {c for c in layer.units if c in self.written_once}
            read |= {c for units in layer.units.values() for unit in units for c in (*unit.value, *unit.gate)}
        coordinates = sorted(read - {ONE})
        return itemgetter(*coordinates) if coordinates else lambda stream: None


# ---- layers as functions --------------------------------------------------------------------------------------------


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
    return one.value == other.value and one.weight == -other.weight and one.gate == _weighted([(-1, other.gate)])


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


# ---- matrices -------------------------------------------------------------------------------------------------------


def exact(entry: float) -> Number:
    """A float as the number it is."""
    return int(entry) if float(entry).is_integer() else Fraction(float(entry))


def _entries(row: Matrix) -> list[tuple[int, float]]:
    return [(index, row[index]) for index in row.nonzero()[0].tolist()]


def _written_by(out: Matrix) -> list[int]:
    """The coordinates that an output matrix writes to."""
    return [int(coordinate) for coordinate in np.flatnonzero(out.any(axis=1))]


def _place(weights: Weights) -> list[tuple[int, Callable[[int], Number]]]:
    feature = FEATURES[weights.position]
    return [(c, _scaled(feature, exact(factor))) for c, factor in _entries(weights.place)]


def _scaled(feature: Callable[[int], Number], factor: Number) -> Callable[[int], Number]:
    return feature if factor == 1 else lambda position: factor * feature(position)


def _written(weights: Weights) -> dict[int, int]:
    """How many heads and feed-forward layers write to each coordinate that is written."""
    count: dict[int, int] = {}
    for layer in weights.layers:
        for out in (*(head.out for head in layer.heads), layer.out):
            for coordinate in _written_by(out):
                count[coordinate] = count.get(coordinate, 0) + 1
    return count


def _position_coordinate(weights: Weights, written: dict[int, int]) -> int | None:
    """The coordinate that is n, if there is one."""
    if weights.position is not PositionKind.N:
        return None
    plain = [c for c, factor in _entries(weights.place) if factor == 1 and c not in written]
    return next((c for c in plain if not weights.token[:, c].any()), None)


def _weighted(terms: Iterable[tuple[Number, Terms]]) -> Terms:
    """A sum of rows, each times a number."""
    total: Terms = {}
    for factor, row in terms:
        for coordinate, coefficient in row.items():
            total[coordinate] = total.get(coordinate, 0) + factor * coefficient
    return {coordinate: factor for coordinate, factor in total.items() if factor}


def _outs(layer: LayerTerms) -> Iterable[int]:
    return (c for head in layer.heads for c in head.out)
