"""Random transformers with small integer weights, so that ties happen and floats are exact."""

import numpy as np

from pencil.theory.fasp.expr import PositionKind
from pencil.theory.weights import HeadWeights, LayerWeights, Matrix, Weights


def random_weights(seed: int) -> Weights:
    """One to three layers of width 5 over three tokens, each kind of position."""
    rng = np.random.default_rng(seed)

    def matrix(*shape: int) -> Matrix:
        return np.where(rng.random(shape) < 0.4, rng.integers(-1, 2, shape), 0).astype(np.float64)

    def head() -> HeadWeights:
        keys, values = rng.integers(1, 3, 2)
        return HeadWeights(matrix(keys, 5), matrix(keys, 5), matrix(values, 5), matrix(5, values))

    def layer() -> LayerWeights:
        units = int(rng.integers(0, 4))
        heads = tuple(head() for _ in range(rng.integers(0, 3)))
        return LayerWeights(heads, matrix(units, 5), matrix(units, 5), matrix(5, units))

    position = list(PositionKind)[int(rng.integers(3))]
    layers = tuple(layer() for _ in range(rng.integers(1, 4)))
    return Weights(("a", "b", "c"), position, matrix(3, 5), matrix(5), layers, matrix(4, 5))
