"""The paper's transformer in PyTorch: average-hard attention, ReGLU, residual connections, no normalisation, no biases.

`HardAttentionTransformer` holds explicit matrices, compiled from a FASP program or any other of the same shapes, and is
called like every model of this package: `model(tokens)` is the definition, `model.decoder()` keeps keys and values. At
a temperature above 0 attention is an ordinary softmax of the same scores. That is exact only in the limit: a score that
is 1 below the best still has exp(-1/temperature) of its weight, which adds up over a long context.
"""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn

from pencil.errors import PencilError
from pencil.theory.compiler import Compiled, DType
from pencil.theory.compiler.precision import LONGEST
from pencil.theory.fasp.expr import PositionKind
from pencil.theory.weights import LayerWeights, Matrix, Weights

_DTYPES: dict[DType, torch.dtype] = {"float64": torch.float64, "float32": torch.float32}
_QUERIES = 512  # attended at a time, so that long prompts need little memory


class PrecisionError(PencilError):
    """A context longer than what is proven exact in the model's floating-point type."""


class HardAttentionTransformer(nn.Module):
    """A decoder-only transformer with average-hard attention; refuses contexts longer than `context`."""

    def __init__(
        self, weights: Weights, *, dtype: DType = "float64", context: int = LONGEST, temperature: float = 0.0
    ) -> None:
        super().__init__()
        self.alphabet = weights.alphabet
        self.position = weights.position
        self.context = context
        self.temperature = temperature
        self.dtype_name = dtype
        self.token = _parameter(weights.token)  # (V, d)
        self.place = _parameter(weights.place)  # (d,)
        self.layers = nn.ModuleList(HardAttentionLayer(layer) for layer in weights.layers)
        self.output = _parameter(weights.output)  # (o, d)
        self.to(_DTYPES[dtype])

    @classmethod
    def from_compiled(
        cls, compiled: Compiled, *, dtype: DType = "float64", temperature: float = 0.0
    ) -> "HardAttentionTransformer":
        """The transformer of a compiled program, which refuses contexts for which the type is not proven exact."""
        context = compiled.exact_length(dtype)
        return cls(compiled.weights, dtype=dtype, context=context, temperature=temperature)

    def forward(self, tokens: Tensor) -> Tensor:
        """(B, T) -> (B, T, o): the outputs after every prefix."""
        return torch.stack([self.outputs(self.hidden(row, Row(len(self.layers)))) for row in tokens])

    def hidden(self, tokens: Tensor, row: "Row") -> Tensor:
        """(T,) -> (T, d): the residual stream of tokens that follow what the row holds, and join it."""
        self._check_length(row.length + len(tokens))
        x = self.token[tokens] + self._feature(row.length, len(tokens))[:, None] * self.place
        for index, layer in enumerate(self.layers):
            x = layer(x, row, index, self.temperature)
        row.length += len(tokens)
        return x

    def outputs(self, hidden: Tensor) -> Tensor:
        """(..., d) -> (..., o)."""
        return hidden @ self.output.T

    @property
    def vocab_size(self) -> int:
        """How many tokens it knows."""
        return len(self.token)

    def decoder(self) -> "HardAttentionDecoder":
        """A fresh decoder that keeps keys and values."""
        return HardAttentionDecoder(self)

    def _feature(self, before: int, count: int) -> Tensor:
        """The positional feature of positions that count from 1: (count,)."""
        n = torch.arange(before + 1, before + count + 1, dtype=self.place.dtype, device=self.place.device)
        if self.position is PositionKind.N:
            return n
        return (n == 1).to(n) if self.position is PositionKind.IS_FIRST else torch.zeros_like(n)

    def _check_length(self, length: int) -> None:
        if length > self.context:
            raise PrecisionError(
                f"a context of {length} tokens, but {self.dtype_name} is proven exact up to {self.context} for these"
                " weights; try float64, or the exact decoder in pencil.theory.decode"
            )


class HardAttentionLayer(nn.Module):
    """Heads, padded to equal sizes, then ReGLU units."""

    def __init__(self, weights: LayerWeights) -> None:
        super().__init__()
        heads = weights.heads
        self.has_heads = bool(heads)
        if heads:
            self.query = _stacked([head.query for head in heads])  # (H, k, d)
            self.key = _stacked([head.key for head in heads])  # (H, k, d)
            self.values = _stacked([head.value for head in heads])  # (H, v, d)
            self.out = _stacked([head.out.T for head in heads])  # (H, v, d)
        self.value = _parameter(weights.value)  # (u, d)
        self.gate = _parameter(weights.gate)  # (u, d)
        self.units_out = _parameter(weights.out)  # (d, u)

    def forward(self, x: Tensor, row: "Row", index: int, temperature: float) -> Tensor:
        """(T, d) -> (T, d); the row gets this layer's keys and values."""
        if self.has_heads:
            keys, values = row.append(index, x @ self.key.mT, x @ self.values.mT)  # (H, S, k), (H, S, v)
            brought = hard_attention(x @ self.query.mT, keys, values, temperature)  # (H, T, v)
            x = x + (brought @ self.out).sum(0)
        return x + ((x @ self.value.T) * torch.relu(x @ self.gate.T)) @ self.units_out.T


def hard_attention(query: Tensor, keys: Tensor, values: Tensor, temperature: float = 0.0) -> Tensor:
    """(H, T, k), (H, S, k), (H, S, v) -> (H, T, v): the mean value where query times key is highest.

    The T queries stand at the end of the S positions, and none sees a later one. The values that tie are added up
    before they are divided, because sums of integers are exact and sums of fractions are not.
    """
    count, length = query.shape[1], keys.shape[1]
    parts = []
    for start in range(0, count, _QUERIES):
        part = query[:, start : start + _QUERIES]
        last = torch.arange(length - count + start, length - count + start + part.shape[1], device=query.device)
        hidden = torch.arange(length, device=query.device) > last[:, None]  # (t, S)
        scores = (part @ keys.mT).masked_fill(hidden, -torch.inf)  # (H, t, S)
        parts.append(_soft(scores, values, temperature) if temperature else _hard(scores, values))
    return torch.cat(parts, 1)


def _hard(scores: Tensor, values: Tensor) -> Tensor:
    best = (scores == scores.amax(-1, keepdim=True)).to(values)
    return best @ values / best.sum(-1, keepdim=True)


def _soft(scores: Tensor, values: Tensor, temperature: float) -> Tensor:
    return torch.softmax(scores / temperature, -1) @ values


class Row:
    """What the layers remember of one row of tokens; it grows by doubling, and forgetting is a counter."""

    def __init__(self, layers: int) -> None:
        self.length = 0
        self._held = [(torch.empty(0, 0, 0), torch.empty(0, 0, 0))] * layers  # keys (H, S, k), values (H, S, v)

    def append(self, layer: int, *added: Tensor) -> list[Tensor]:
        """Add a layer's keys (H, T, k) and values (H, T, v); all that it holds then."""
        end = self.length + added[0].shape[1]
        keys, values = (self._grown(old, new, end) for old, new in zip(self._held[layer], added, strict=True))
        self._held[layer] = (keys, values)
        return [keys[:, :end], values[:, :end]]

    def _grown(self, old: Tensor, added: Tensor, end: int) -> Tensor:
        if end > old.shape[1]:
            larger = added.new_empty(added.shape[0], max(end, 2 * old.shape[1]), added.shape[2])
            larger[:, : self.length] = old[:, : self.length] if self.length else 0
            old = larger
        old[:, self.length : end] = added
        return old


class HardAttentionDecoder:
    """Rows of tokens that the transformer has read, with their keys and values; the `Decoder` protocol."""

    def __init__(self, model: HardAttentionTransformer) -> None:
        self.model = model
        self._rows: dict[int, Row] = {}

    @torch.inference_mode()
    def feed(self, rows: Sequence[int], tokens: Sequence[Sequence[int]]) -> Tensor:
        """Append tokens to rows; the outputs after each row's last token, (rows, o)."""
        device = self.model.token.device
        last = [
            self.model.hidden(torch.tensor(added, device=device), self._row(row))[-1]
            for row, added in zip(rows, tokens, strict=True)
        ]
        return self.model.outputs(torch.stack(last))

    def rewind(self, row: int, length: int) -> None:
        """Forget all but the first `length` tokens of a row."""
        self._rows[row].length = length

    def drop(self, row: int) -> None:
        """Forget a row."""
        del self._rows[row]

    def _row(self, row: int) -> Row:
        return self._rows.setdefault(row, Row(len(self.model.layers)))


def _parameter(matrix: Matrix) -> nn.Parameter:
    return nn.Parameter(torch.from_numpy(matrix).clone(), requires_grad=False)


def _stacked(matrices: Sequence[Matrix]) -> nn.Parameter:
    """Matrices padded with zeros to one shape: (number of matrices, height, width)."""
    height, width = (max(matrix.shape[axis] for matrix in matrices) for axis in (0, 1))
    stack = np.zeros((len(matrices), height, width))
    for index, matrix in enumerate(matrices):
        stack[index, : matrix.shape[0], : matrix.shape[1]] = matrix
    return _parameter(stack)
