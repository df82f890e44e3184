"""Attention over the chunks of a packed batch, and how much of it goes where it is told to.

Shapes in comments: N packed tokens, A that ask, in chunks of Q, K keys of a chunk, H heads of width E, L looks.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from pencil.model.frames import in_sight
from pencil.train.batch import Batch, Chunks
from pencil.train.pack import Ints

FAINT = 1e-12
"""A gradient that is next to nothing, and can still be divided by."""


class ChunkedAttention:
    """The `attend` of a batch's chunks; indices and masks are made once for all layers."""

    def __init__(self, batch: Batch, chunks: Chunks, device: torch.device, dtype: torch.dtype) -> None:
        self.queries = torch.from_numpy(chunks.queries).to(device)
        buckets = [torch.from_numpy(keys).to(device) for keys in chunks.keys]
        self.masks = [mask.to(dtype) for mask in _masks(batch, self.queries, buckets)]
        self.asking = [mask.shape[0] * mask.shape[2] for mask in self.masks]
        self.lengths = [keys.numel() for keys in buckets]
        self.keys = torch.cat([keys.flatten() for keys in buckets]).clamp(min=0)  # padding reads any, and is masked

    @torch.compiler.disable  # type: ignore[untyped-decorator]  # shapes change with each batch; the rest compiles once
    def __call__(self, layer: int, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        """(A, H, E) queries, (N, H, E) keys and values -> (A, H, E)."""
        mixed = [
            F.scaled_dot_product_attention(queries, keys, values, attn_mask=mask)
            for mask, (queries, keys, values) in zip(self.masks, self._parts(q, k, v), strict=True)
        ]
        return _together(mixed)

    def overhear(self, q: Tensor, k: Tensor, v: Tensor, looks: Ints) -> tuple[Tensor, Tensor]:
        """The same, and the logarithms of the shares of attention that go where it is told to look.

        Looks (L, 3) are a query, a head and a key; those of one query and head share one share.
        """
        parts = zip(self.masks, self._parts(q, k, v), strict=True)
        mixed, sums = zip(*(attend_and_sum(*part, mask) for mask, part in parts), strict=True)
        query, head, key = torch.from_numpy(looks.T.copy()).to(q.device)
        named = (q[query, head] * k[key, head]).sum(-1) * q.shape[-1] ** -0.5  # (L,)
        pairs, pair = (query * q.shape[-2] + head).unique(return_inverse=True)
        return _together(mixed), _sum_up(named, pair, len(pairs)) - _together(sums).flatten()[pairs]

    def _parts(self, q: Tensor, k: Tensor, v: Tensor) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
        """For each bucket queries (chunks, H, Q, E), keys and values (chunks, H, K, E)."""
        k, v = k.index_select(0, self.keys), v.index_select(0, self.keys)
        parts = zip(q.split(self.asking), k.split(self.lengths), v.split(self.lengths), strict=True)  # type: ignore[no-untyped-call]
        for mask, part in zip(self.masks, parts, strict=True):
            queries, keys, values = (tensor.unflatten(0, (len(mask), -1)).transpose(1, 2) for tensor in part)
            yield queries, keys, values


def attend_and_sum(q: Tensor, k: Tensor, v: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    """Mixed values (..., Q, E), and the logarithm of what the exponentials of each query's scores add up to, (..., Q).

    The second is what a share of attention is a share of.
    """
    if q.is_cpu and q.dtype == k.dtype == v.dtype == mask.dtype:
        mixed, sums = _FusedAttention.apply(q, k, v, mask)  # type: ignore[no-untyped-call]
        return mixed, sums
    return plainly_attend_and_sum(q, k, v, mask)


def plainly_attend_and_sum(q: Tensor, k: Tensor, v: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    """The same, on any device."""
    scores = (q * q.shape[-1] ** -0.5) @ k.transpose(-2, -1) + mask
    return scores.softmax(-1).to(v) @ v, scores.logsumexp(-1)


class _FusedAttention(torch.autograd.Function):
    """The same by torch's kernel for CPUs, which does not hold the scores; it knows the sums, and hides them."""

    @staticmethod
    def forward(ctx: Any, q: Tensor, k: Tensor, v: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        mixed, sums = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(q, k, v, attn_mask=mask)
        ctx.save_for_backward(q, k, v, mask, mixed, sums)
        return mixed, sums

    @staticmethod
    def backward(ctx: Any, of_mixed: Tensor, of_sums: Tensor) -> tuple[Tensor | None, ...]:
        q, k, v, mask, mixed, sums = ctx.saved_tensors
        # A score's gradient is its weight times (what it mixes - d + of_sums), where d is the sum of of_mixed * mixed,
        # and nothing else is computed from `mixed`. So one with d - of_sums brings the gradient of the sums, too.
        sizes = of_mixed.square().sum(-1, keepdim=True)
        of_mixed = of_mixed.where(sizes > FAINT**2, FAINT)  # what is mixed may be of no use, and its sum still be
        mixed = mixed - of_mixed * (of_sums.unsqueeze(-1) / of_mixed.square().sum(-1, keepdim=True))
        gradients = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward(
            of_mixed, q, k, v, mixed, sums, 0.0, False, attn_mask=mask
        )
        return *gradients, None


def _sum_up(named: Tensor, pair: Tensor, pairs: int) -> Tensor:
    """The logarithm of what the exponentials of a pair's scores add up to."""
    largest = named.new_full((pairs,), -torch.inf).scatter_reduce(0, pair, named.detach(), "amax")
    return largest + torch.zeros_like(largest).index_add(0, pair, (named - largest[pair]).exp()).log()


def _together(mixed: Sequence[Tensor]) -> Tensor:
    """What all buckets hold, (chunks, H, Q, ...) each -> (A, H, ...)."""
    return torch.cat([some.transpose(1, 2).flatten(0, 1) for some in mixed])


def _masks(batch: Batch, queries: Tensor, buckets: list[Tensor]) -> Iterator[Tensor]:
    """For each bucket (chunks, 1, Q, K), to be added to the scores: 0 where a query sees a key, else minus infinity."""
    times, ends, positions, outer, start = (
        torch.from_numpy(array).to(queries.device)
        for array in (batch.times, batch.ends, batch.positions, *batch.seen.T.copy())
    )
    size = len(queries) // sum(map(len, buckets))
    for keys, asking in zip(buckets, queries.split([len(keys) * size for keys in buckets]), strict=True):  # type: ignore[no-untyped-call]
        now, until, since = (array[asking].view(len(keys), size, 1) for array in (times, outer, start))
        born, ends_at = times[keys][:, None], ends[keys].where(keys >= 0, -1)[:, None]  # (chunks, 1, K)
        seen = (born <= now) & (now < ends_at) & in_sight(positions[keys][:, None], until, since)  # (chunks, Q, K)
        yield torch.zeros(seen.shape, device=keys.device).masked_fill_(~seen, -torch.inf)[:, None]
