"""A transformer's matrices as sparse rows of exact numbers, with the special coordinates recognised."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from pencil.theory.decode.heads import Number
from pencil.theory.fasp.expr import PositionKind
from pencil.theory.weights import HeadWeights, LayerWeights, Matrix, Weights

Terms = dict[int, Number]
"""A sparse row: coordinate to coefficient. Constant coordinates are joined under `ONE`."""
ONE = -1

_FEATURES: dict[PositionKind, Callable[[int], Number]] = {
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


class SparseWeights:
    """All matrices as sparse rows. A coordinate may be constant, or be the position n; most are written once."""

    def __init__(self, weights: Weights) -> None:
        written = _written(weights)
        self.embedding = [[exact(entry) for entry in row] for row in weights.token]
        self.place = _place(weights)
        self.constants = {
            c: self.embedding[0][c]
            for c in range(weights.width)
            if c not in written and not weights.place[c] and len({row[c] for row in self.embedding}) == 1
        }
        self.n = _position_coordinate(weights, written)
        """The coordinate that carries the position n."""
        embedded = weights.token.any(axis=0) | (weights.place != 0)
        self.written_once = {c for c in written if written[c] == 1 and not embedded[c]}
        """Coordinates that are zero until one head or feed-forward layer writes to them."""
        self.layers = [self._layer_terms(layer) for layer in weights.layers]
        self.output = [self._row(row) for row in weights.output]

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


def exact(entry: float) -> Number:
    """A float as the number it is."""
    return int(entry) if float(entry).is_integer() else Fraction(float(entry))


def _entries(row: Matrix) -> list[tuple[int, float]]:
    return [(index, row[index]) for index in row.nonzero()[0].tolist()]


def _written_by(out: Matrix) -> list[int]:
    """The coordinates that an output matrix writes to."""
    return [int(coordinate) for coordinate in np.flatnonzero(out.any(axis=1))]


def _place(weights: Weights) -> list[tuple[int, Callable[[int], Number]]]:
    feature = _FEATURES[weights.position]
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


def weighted(terms: Iterable[tuple[Number, Terms]]) -> Terms:
    """A sum of rows, each times a number."""
    total: Terms = {}
    for factor, row in terms:
        for coordinate, coefficient in row.items():
            total[coordinate] = total.get(coordinate, 0) + factor * coefficient
    return {coordinate: factor for coordinate, factor in total.items() if factor}
