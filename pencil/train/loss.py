"""The loss of a packed batch: attention over its chunks, cross-entropy on what the model generates.

Shapes in comments: N packed tokens, A that ask, in chunks of Q, K keys of a chunk, H heads of width E, M targets, V
words.
"""

from collections.abc import Iterator
from typing import NamedTuple, cast

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from pencil.model.transformer import Attend, Block, Transformer, finish, split_heads
from pencil.train.batch import Batch, Chunks
from pencil.train.hints import ApplyBlock, HintLoss


class Loss(NamedTuple):
    """Sums over a batch, so that parts of a batch add up."""

    total: Tensor
    """() the summed cross-entropy."""
    hints: Tensor
    """() that of the hints, to be learned along with it."""
    wrong: Tensor
    """(M,) whether the likeliest token is not the target."""

    @property
    def objective(self) -> Tensor:
        """() what to make small."""
        return self.total + self.hints


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
        every, last = (ChunkedAttention(batch, part, weight.device, weight.dtype) for part in (batch.every, batch.last))
        hints = HintLoss(self.model, batch, every)
        blocks = hints.listen_in(frugal_blocks(self.model, ids, last))
        hidden = self.model.hidden(ids, positions, hints, blocks)  # (A, D)
        logits = self.model.logits(hidden.index_select(0, inputs))  # (M, V)
        wrong = logits.detach().argmax(-1) != targets
        return Loss(F.cross_entropy(logits, targets, reduction="sum"), hints.total, wrong)


def frugal_blocks(model: Transformer, ids: Tensor, last_attend: "ChunkedAttention") -> list[ApplyBlock]:
    """The model's blocks, without what the first and the last would compute in vain.

    The first one's queries, keys and values depend on the word alone: each word is projected once. The last one goes on
    with those tokens only after which something is predicted.
    """
    first, *middle, last = [cast(Block, block) for block in (model.blocks[0], *model.blocks[1:-1], model.blocks[-1])]

    def begin(x: Tensor, cos: Tensor, sin: Tensor, attend: Attend) -> Tensor:
        """(N, D) -> (N, D)."""
        words = first.qkv(first.attention_norm(model.embedding.weight))  # (V, 3D)
        return finish(first, x, attend(0, *split_heads(first, F.embedding(ids, words), cos, sin)))

    def end(x: Tensor, cos: Tensor, sin: Tensor, attend: Attend) -> Tensor:
        """(N, D) -> (A, D)."""
        q, k, v = split_heads(last, last.qkv(last.attention_norm(x)), cos, sin)
        mixed = last_attend(last.layer, q.index_select(0, last_attend.queries), k, v)
        return finish(last, x.index_select(0, last_attend.queries), mixed)

    return [begin, *middle, end] if len(model.blocks) > 1 else [end]


class ChunkedAttention:
    """The `attend` of a batch's chunks; indices and masks are made once for all layers."""

    def __init__(self, batch: Batch, chunks: Chunks, device: torch.device, dtype: torch.dtype) -> None:
        times, ends = (torch.from_numpy(array).to(device) for array in (batch.times, batch.ends))
        self.queries = torch.from_numpy(chunks.queries).to(device)
        buckets = [torch.from_numpy(keys).to(device) for keys in chunks.keys]
        self.masks = [mask.to(dtype) for mask in _masks(times[self.queries], times, ends, buckets)]
        self.asking = [mask.shape[0] * mask.shape[2] for mask in self.masks]
        self.lengths = [keys.numel() for keys in buckets]
        self.keys = torch.cat([keys.flatten() for keys in buckets]).clamp(min=0)  # padding reads any, and is masked

    @torch.compiler.disable  # type: ignore[untyped-decorator]  # shapes change with each batch; the rest compiles once
    def __call__(self, layer: int, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        """(A, H, E) queries, (N, H, E) keys and values -> (A, H, E)."""
        keys, values = k.index_select(0, self.keys), v.index_select(0, self.keys)
        parts = zip(q.split(self.asking), keys.split(self.lengths), values.split(self.lengths), strict=True)  # type: ignore[no-untyped-call]
        mixed = []
        for mask, part in zip(self.masks, parts, strict=True):
            queries, keys, values = (tensor.unflatten(0, (len(mask), -1)).transpose(1, 2) for tensor in part)
            seen = F.scaled_dot_product_attention(queries, keys, values, attn_mask=mask)  # (chunks, H, Q, E)
            mixed.append(seen.transpose(1, 2).flatten(0, 1))
        return torch.cat(mixed)


def _masks(asked: Tensor, times: Tensor, ends: Tensor, buckets: list[Tensor]) -> Iterator[Tensor]:
    """For each bucket (chunks, 1, Q, K), to be added to the scores: 0 where a query sees a key, else minus infinity."""
    size = len(asked) // sum(map(len, buckets))
    start = 0
    for keys in buckets:
        now = asked.narrow(0, start, len(keys) * size).view(len(keys), size, 1)  # (chunks, Q, 1)
        start += len(keys) * size
        born, ends_at = times[keys][:, None], ends[keys].where(keys >= 0, -1)[:, None]  # (chunks, 1, K)
        seen = (born <= now) & (now < ends_at)
        yield torch.zeros(seen.shape, device=keys.device).masked_fill_(~seen, -torch.inf)[:, None]
