"""The loss of a packed batch: attention over its chunks, cross-entropy on what the model generates.

Shapes in comments: N packed tokens in chunks of Q, K keys of a chunk, H heads of width E, M targets, V words.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from pencil.model.transformer import Transformer
from pencil.train.batch import Batch


class Loss(NamedTuple):
    """Sums over a batch, so that parts of a batch add up."""

    total: Tensor
    """() the summed cross-entropy."""
    wrong: Tensor
    """(M,) whether the likeliest token is not the target."""


class PackedLoss(nn.Module):
    """A batch to its loss; a module, so that it can be wrapped for many machines."""

    def __init__(self, model: Transformer) -> None:
        super().__init__()
        self.model = model

    def forward(self, batch: Batch) -> Loss:
        """The loss on the tokens the model generates."""
        weight = self.model.embedding.weight
        ids, positions, inputs, targets = (
            torch.from_numpy(array).to(weight.device, non_blocking=True)
            for array in (batch.ids, batch.positions, batch.inputs, batch.targets)
        )
        attend = ChunkedAttention(batch, weight.device, weight.dtype)
        hidden = self.model.hidden(ids, positions, attend)  # (N, D)
        logits = self.model.logits(hidden.index_select(0, inputs))  # (M, V)
        return Loss(F.cross_entropy(logits, targets, reduction="sum"), logits.detach().argmax(-1) != targets)


class ChunkedAttention:
    """The `attend` of a batch; indices and masks are made once for all layers."""

    def __init__(self, batch: Batch, device: torch.device, dtype: torch.dtype) -> None:
        self.masks = [mask.to(dtype) for mask in _masks(batch, device)]  # each (chunks, 1, Q, K)
        self.queries = [len(keys) * batch.chunk for keys in batch.keys]
        self.lengths = [keys.size for keys in batch.keys]
        padded = np.concatenate([keys.ravel() for keys in batch.keys])
        self.keys = torch.from_numpy(np.maximum(padded, 0)).to(device)  # padding reads any token, and is masked

    @torch.compiler.disable  # type: ignore[untyped-decorator]  # shapes change with each batch; the rest compiles once
    def __call__(self, layer: int, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        """(N, H, E) each -> (N, H, E)."""
        keys, values = k.index_select(0, self.keys), v.index_select(0, self.keys)
        parts = zip(q.split(self.queries), keys.split(self.lengths), values.split(self.lengths), strict=True)  # type: ignore[no-untyped-call]
        mixed = []
        for mask, part in zip(self.masks, parts, strict=True):
            queries, keys, values = (tensor.unflatten(0, (len(mask), -1)).transpose(1, 2) for tensor in part)
            seen = F.scaled_dot_product_attention(queries, keys, values, attn_mask=mask)  # (chunks, H, Q, E)
            mixed.append(seen.transpose(1, 2).flatten(0, 1))
        return torch.cat(mixed)


def _masks(batch: Batch, device: torch.device) -> Iterator[Tensor]:
    """For each bucket what to add to the scores: 0 where a token sees a key, else minus infinity."""
    times, ends = (torch.from_numpy(array).to(device) for array in (batch.times, batch.ends))
    start = 0
    for array in batch.keys:
        keys = torch.from_numpy(array).to(device)  # (chunks, K)
        stop = start + len(keys) * batch.chunk
        now = times[start:stop].view(len(keys), -1, 1)  # (chunks, Q, 1)
        born, ends_at = times[keys][:, None], ends[keys].where(keys >= 0, -1)[:, None]  # (chunks, 1, K)
        seen = (born <= now) & (now < ends_at)
        yield torch.zeros(seen.shape, device=device).masked_fill_(~seen, -torch.inf)[:, None]
        start = stop
