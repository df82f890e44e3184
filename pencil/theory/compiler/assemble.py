"""Assembling: placed slots become explicit matrices."""

from collections.abc import Hashable, Sequence

import numpy as np

from pencil.theory.compiler.graph import Feature, Form, Graph, Head, Place, Read, Sum
from pencil.theory.compiler.place import Layer, Placement
from pencil.theory.fasp.expr import PositionKind
from pencil.theory.weights import HeadWeights, LayerWeights, Matrix, Weights


def assemble(
    graph: Graph,
    result: Sequence[Form],
    placement: Placement,
    alphabet: Sequence[Hashable],
    position: PositionKind,
) -> Weights:
    """The weights of a transformer that computes the result."""
    token = np.zeros((len(alphabet), placement.width))
    where = np.zeros(placement.width)
    for index, coordinate in placement.coordinates.items():
        slot = graph.slots[index]
        if isinstance(slot, Feature):
            token[:, coordinate] = [1.0] * len(alphabet) if slot.rows is None else [float(row) for row in slot.rows]
        elif isinstance(slot, Place):
            where[coordinate] = 1
    layers = tuple(_layer(graph, layer, placement) for layer in placement.layers)
    return Weights(tuple(alphabet), position, token, where, layers, _rows(result, placement))


def _layer(graph: Graph, layer: Layer, placement: Placement) -> LayerWeights:
    out = np.zeros((placement.width, len(layer.units)))
    for index in layer.sums:
        slot = graph.slots[index]
        assert isinstance(slot, Sum)
        for unit, weight in slot.terms:
            out[placement.coordinates[index], layer.units[unit]] += float(weight)
    return LayerWeights(
        tuple(_head(graph, head, reads, placement) for head, reads in layer.heads.items()),
        _rows([unit.value for unit in layer.units], placement),
        _rows([unit.gate for unit in layer.units], placement),
        out,
    )


def _head(graph: Graph, head: Head, reads: Sequence[int], placement: Placement) -> HeadWeights:
    values = []
    out = np.zeros((placement.width, len(reads)))
    for number, index in enumerate(reads):
        slot = graph.slots[index]
        assert isinstance(slot, Read)
        values.append(slot.value)
        out[placement.coordinates[index], number] = 1
    return HeadWeights(_rows(head.query, placement), _rows(head.key, placement), _rows(values, placement), out)


def _rows(forms: Sequence[Form], placement: Placement) -> Matrix:
    """A matrix with one row for each form: (number of forms, d)."""
    matrix = np.zeros((len(forms), placement.width))
    for row, form in enumerate(forms):
        for index, factor in form:
            matrix[row, placement.coordinates[index]] = float(factor)
    return matrix
