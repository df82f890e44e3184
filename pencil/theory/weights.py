"""A transformer's weights as explicit matrices: what the compiler writes, and what the decoders and PyTorch read.

The architecture is the paper's (appendix "Transformer Layers"): token and positional embedding, layers of average-hard
attention and ReGLU feed-forward with residual connections, no normalisation, no biases, and a linear output.
"""

import json
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from pencil.errors import ParseError
from pencil.files import sync
from pencil.theory.fasp.expr import PositionKind

Matrix = npt.NDArray[np.float64]
_FORMAT = "pencil.theory"
_EXPECTED = "a safetensors file of a compiled program"


@dataclass(frozen=True)
class HeadWeights:
    """One attention head; the residual stream has width d."""

    query: Matrix
    """(k, d)"""
    key: Matrix
    """(k, d)"""
    value: Matrix
    """(v, d)"""
    out: Matrix
    """(d, v)"""


@dataclass(frozen=True)
class LayerWeights:
    """A layer: its heads, then u ReGLU units value * [gate]+."""

    heads: tuple[HeadWeights, ...]
    value: Matrix
    """(u, d)"""
    gate: Matrix
    """(u, d)"""
    out: Matrix
    """(d, u)"""


@dataclass(frozen=True, repr=False)
class Weights:
    """All matrices of a transformer over an alphabet."""

    alphabet: tuple[Hashable, ...]
    position: PositionKind
    token: Matrix
    """(V, d): the embedding of each token."""
    place: Matrix
    """(d,): what the position is multiplied with."""
    layers: tuple[LayerWeights, ...]
    output: Matrix
    """(o, d): one row for each coordinate of the result; a row for each token if it predicts tokens."""

    @property
    def width(self) -> int:
        """The width d of the residual stream."""
        return int(self.token.shape[1])

    @property
    def nonzeros(self) -> int:
        """How many weights are not zero."""
        return sum(int(np.count_nonzero(matrix)) for _, matrix in self.named())

    @property
    def parameters(self) -> int:
        """How many weights there are."""
        return sum(matrix.size for _, matrix in self.named())

    def named(self) -> Iterator[tuple[str, Matrix]]:
        """Every matrix with its name."""
        yield from (("token", self.token), ("place", self.place), ("output", self.output))
        for index, layer in enumerate(self.layers):
            for number, head in enumerate(layer.heads):
                for part in ("query", "key", "value", "out"):
                    yield f"layers.{index}.heads.{number}.{part}", getattr(head, part)
            for part in ("value", "gate", "out"):
                yield f"layers.{index}.{part}", getattr(layer, part)

    def report(self) -> dict[str, Any]:
        """The sizes, as plain data."""
        return {
            "vocabulary": len(self.alphabet),
            "layers": len(self.layers),
            "heads_per_layer": [len(layer.heads) for layer in self.layers],
            "units_per_layer": [len(layer.gate) for layer in self.layers],
            "width": self.width,
            "nonzeros": self.nonzeros,
            "parameters": self.parameters,
        }

    def __repr__(self) -> str:
        sizes = self.report()
        return (
            f"<transformer with {sizes['layers']} layers, heads {sizes['heads_per_layer']},"
            f" units {sizes['units_per_layer']}, width {sizes['width']}, vocabulary {sizes['vocabulary']},"
            f" {sizes['nonzeros']} of {sizes['parameters']} weights not zero>"
        )

    def save(self, path: Path) -> None:
        """Write a safetensors file; the alphabet's tokens are kept as text."""
        if path.is_dir() or not path.parent.is_dir():
            raise ParseError(str(path), "<no place for a file>", "a file name in a folder that exists")
        header = {
            "format": _FORMAT,
            "position": self.position.value,
            "alphabet": json.dumps([str(word) for word in self.alphabet]),
            "heads": json.dumps([len(layer.heads) for layer in self.layers]),
        }
        unfinished = path.with_name(path.name + ".partial")
        save_file({name: np.ascontiguousarray(matrix) for name, matrix in self.named()}, unfinished, metadata=header)
        sync(unfinished)
        unfinished.replace(path)
        sync(path.parent)

    @classmethod
    def load(cls, path: Path) -> "Weights":
        """Read what `save` has written."""
        if not path.is_file():
            raise ParseError(str(path), "<no such file>", _EXPECTED)
        try:
            with safe_open(path, framework="np") as file:
                header = file.metadata() or {}
                matrices = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  (not a dict)
        except SafetensorError as error:
            raise ParseError(str(path), "<a file that is not safetensors>", _EXPECTED) from error
        if header.get("format") != _FORMAT:
            raise ParseError(str(path), "<other weights>", _EXPECTED)
        heads = json.loads(header["heads"])
        return cls(
            tuple(json.loads(header["alphabet"])),
            PositionKind(header["position"]),
            matrices["token"],
            matrices["place"],
            tuple(_layer(matrices, index, count) for index, count in enumerate(heads)),
            matrices["output"],
        )


def _layer(matrices: Mapping[str, Matrix], index: int, heads: int) -> LayerWeights:
    def part(name: str) -> Matrix:
        return matrices[f"layers.{index}.{name}"]

    return LayerWeights(
        tuple(
            HeadWeights(*(part(f"heads.{number}.{name}") for name in ("query", "key", "value", "out")))
            for number in range(heads)
        ),
        part("value"),
        part("gate"),
        part("out"),
    )
