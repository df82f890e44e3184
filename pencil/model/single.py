"""One token of one row through the whole model, in numpy.

Such a step is bound by reading the weights. numpy multiplies a matrix by a vector at the memory's speed, on all threads
of its BLAS (`OMP_NUM_THREADS`); torch reaches two thirds of that, and its calls take three times as long. Weights and
cache are views of torch's memory, so training may go on.
"""

import os
from collections.abc import Iterable, Sequence
from math import sqrt

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from pencil.model.frames import find_seen
from pencil.model.surroundings import find_last_rows
from pencil.model.transformer import Transformer

Array = NDArray[np.float32]

LINEARS = ("qkv", "out", "up", "down")


class SingleToken:
    """What a transformer computes for one token that follows others."""

    def __init__(self, model: Transformer) -> None:
        config = model.config
        self.heads, self.epsilon = (config.n_heads, config.head_width), model.norm.eps
        self.embedding, self.norm = array(model.embedding.weight), array(model.norm.weight)
        self.config, self.table = config, None if model.surroundings is None else array(model.surroundings.weight)
        names = ("attention_norm", "mlp_norm", *LINEARS)
        self.layers = [[array(getattr(block, name).weight) for name in names] for block in model.blocks]
        self.cos, self.sin = (array(table).reshape(-1, 2, config.head_width // 2) for table in (model.cos, model.sin))
        self.scales = np.array([config.head_width**-0.5, 1], np.float32).reshape(2, 1, 1, 1)  # of queries, of keys

    @staticmethod
    def fits(model: Transformer) -> bool:
        """Whether this is what it computes and pays: weights that numpy can read, threads that make way for torch's."""
        layers = [getattr(block, name) for block in model.blocks for name in LINEARS]
        weight = model.embedding.weight
        plain = type(model) is Transformer and all(type(layer) is nn.Linear for layer in layers)
        return plain and weight.device.type == "cpu" and weight.dtype == torch.float32 and makes_way()

    def __call__(self, tokens: Sequence[int], cache: Iterable[tuple[Array, Array]]) -> Array:
        """Add the last token's keys and values to those of each layer, (H, tokens, E); the logits after it, (V,)."""
        position = len(tokens) - 1
        x = self._embed(tokens)  # (D,)
        cos, sin = self.cos[position] * self.scales, self.sin[position] * self.scales  # (2, 1, 2, E / 2) each
        [seen] = find_seen(tokens, self.config.frames, self.config.outermost, position)
        reach, unseen = slice(seen.first, position + 1), slice(*seen) if seen.outer else slice(0)
        for (attention_norm, mlp_norm, qkv, out, up, down), (keys, values) in zip(self.layers, cache, strict=True):
            heads = qkv.dot(self._normalise(x, attention_norm)).reshape(3, *self.heads)  # (3, H, E)
            q, keys[:, position] = rotate(heads[:2], cos, sin)
            values[:, position] = heads[2]
            x += out.dot(attend(q, keys[:, reach], values[:, reach], unseen))
            x += down.dot(gelu(up.dot(self._normalise(x, mlp_norm))))
        logits: Array = self.embedding.dot(self._normalise(x, self.norm))
        return logits

    def _embed(self, tokens: Sequence[int]) -> Array:
        """(D,) for the last token."""
        x: Array = self.embedding[tokens[-1]].copy()
        if self.table is not None:
            [rows] = find_last_rows(tokens, len(tokens) - 1, self.config)
            x += self.table[[row for row in rows if row >= 0]].sum(0)
        return x

    def _normalise(self, x: Array, weight: Array) -> Array:
        """(D,) -> (D,)."""
        centred: Array = x - np.add.reduce(x) / len(x)
        centred *= weight * (1 / sqrt(centred.dot(centred) / len(x) + self.epsilon))
        return centred


def makes_way() -> bool:
    """Whether numpy's threads let go of their cores soon: `pencil/__init__.py` sees to it if it is loaded first."""
    return "OPENBLAS_THREAD_TIMEOUT" in os.environ or torch.get_num_threads() == 1


def array(tensor: Tensor) -> Array:
    """A view of a tensor."""
    view: Array = tensor.detach().numpy()
    return view


def rotate(heads: Array, cos: Array, sin: Array) -> Array:
    """(..., E) -> (..., E): turn the pairs (x[i], x[i + E/2])."""
    pairs = heads.reshape(*heads.shape[:-1], 2, -1)
    turned = pairs * cos
    turned += pairs[..., ::-1, :] * sin
    return turned.reshape(heads.shape)


def attend(q: Array, keys: Array, values: Array, unseen: slice) -> Array:
    """(H, E), and (H, T, E) twice, of which some are not seen -> (D,)."""
    shares = np.matmul(q[:, None], keys.transpose(0, 2, 1))  # (H, 1, T)
    shares[..., unseen] = -np.inf
    shares -= shares.max(-1, keepdims=True)
    np.exp(shares, out=shares)
    mixed: Array = np.matmul(shares, values)  # (H, 1, E)
    mixed /= shares.sum(-1, keepdims=True)
    return mixed.reshape(-1)


def gelu(x: Array) -> Array:
    """x / 2 (1 + erf(x / sqrt 2)); torch has the erf, and so few numbers do not wake its threads."""
    half: Array = torch.from_numpy(x * sqrt(0.5)).erf_().numpy()
    half += 1
    half *= x
    half *= 0.5
    return half
