"""Attention over the chunks of a packed batch, and how much of it goes where it is told to.

Shapes in comments: N packed tokens, A that ask, in chunks of Q, K keys of a chunk, H heads of width E, L looks.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from pencil.model.frames import in_sight
from pencil.train.batch import Batch, Chunks
from pencil.train.native import WIDTHS, NativeAttention, Sight, library
from pencil.train.pack import Ints

FAINT = 1e-12
"""A gradient that is next to nothing, and can still be divided by."""


@dataclass(frozen=True)
class Bucket:
    """C chunks with about as many keys."""

    rows: slice
    """Which of the queries are theirs, C * Q of them."""
    keys: Tensor
    """(C * K,) which tokens are their keys; padding reads any, and is masked."""
    mask: Tensor
    """(C, 1, Q, K), to be added to the scores: 0 where a query sees a key, else minus infinity."""

    def cut(self, *rows: Tensor) -> list[Tensor]:
        """What is there for each query, (A, H, ...) -> (C, H, Q, ...)."""
        return [self._by_chunk(some[self.rows]) for some in rows]

    def gather(self, *tokens: Tensor) -> list[Tensor]:
        """What is there for each token, of those that are keys, (N, H, E) -> (C, H, K, E)."""
        return [self._by_chunk(some.index_select(0, self.keys)) for some in tokens]

    def _by_chunk(self, rows: Tensor) -> Tensor:
        return rows.view(len(self.mask), -1, *rows.shape[1:]).transpose(1, 2)


Way = Callable[[Tensor, Tensor, Tensor], tuple[Tensor, Tensor]]
"""(q, k, v) -> mixed values (A, H, E), and the logarithm of what the exponentials of a query's scores add up to (A, H).

The second is what a share of attention is a share of.
"""


class ChunkedAttention:
    """The `attend` of a batch's chunks; indices and masks are made once for all layers."""

    def __init__(
        self, batch: Batch, chunks: Chunks, device: torch.device, dtype: torch.dtype, native: bool = False
    ) -> None:
        self.batch, self.chunks, self.dtype = batch, chunks, dtype
        self.queries = torch.from_numpy(chunks.queries).to(device)
        self.may_be_native = native and device.type == "cpu" and library() is not None

    @cached_property
    def buckets(self) -> list[Bucket]:
        """The chunks as torch's operations read them."""
        keys = [torch.from_numpy(some).to(self.queries.device) for some in self.chunks.keys]
        buckets, start = list[Bucket](), 0
        for some, mask in zip(keys, _masks(self.batch, self.queries, keys), strict=True):
            rows = slice(start, start + mask.shape[0] * mask.shape[2])
            buckets.append(Bucket(rows, some.flatten().clamp(min=0), mask.to(self.dtype)))
            start = rows.stop
        return buckets

    @torch.compiler.disable  # type: ignore[untyped-decorator]  # shapes change with each batch; the rest compiles once
    def __call__(self, layer: int, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        """(A, H, E) queries, (N, H, E) keys and values -> (A, H, E)."""
        way = self._fast_way(q)
        if way is not None:
            return way(q, k, v)[0]
        mixed = []
        for bucket in self.buckets:
            [queries], [keys, values] = bucket.cut(q), bucket.gather(k, v)
            mixed.append(F.scaled_dot_product_attention(queries, keys, values, attn_mask=bucket.mask))
        return _together(mixed)

    def overhear(self, q: Tensor, k: Tensor, v: Tensor, looks: Ints) -> tuple[Tensor, Tensor]:
        """The same, and the logarithms of the shares of attention that go where it is told to look.

        Looks (L, 3) are a query, a head and a key; those of one query and head share one share.
        """
        mixed, sums = (self._fast_way(q) or self.plain)(q, k, v)
        query, head, key = torch.from_numpy(looks.T.copy()).to(q.device)
        named = (q[query, head] * k[key, head]).sum(-1) * q.shape[-1] ** -0.5  # (L,)
        pairs, pair = (query * q.shape[-2] + head).unique(return_inverse=True)
        return mixed, _sum_up(named, pair, len(pairs)) - sums.flatten()[pairs]

    def _fast_way(self, q: Tensor) -> Way | None:
        """On a CPU, code that was compiled for it, or torch's kernel; other devices have kernels of their own."""
        if self.may_be_native and self.dtype == torch.float32 and q.shape[-1] in WIDTHS:
            return self.native
        return self.fused if self._on_cpu else None

    @property
    def _on_cpu(self) -> bool:
        return self.queries.is_cpu

    def plain(self, q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """Operation by operation."""
        mixed, sums = [], []
        for bucket in self.buckets:
            [queries], [keys, values] = bucket.cut(q), bucket.gather(k, v)
            scores = (queries * q.shape[-1] ** -0.5) @ keys.transpose(-2, -1) + bucket.mask
            mixed.append(scores.softmax(-1).to(v) @ values)
            sums.append(scores.logsumexp(-1))
        return _together(mixed), _together(sums)

    def fused(self, q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """By torch's kernel for CPUs, which does not hold the scores; it knows the sums, and hides them."""
        with torch.autocast("cpu", enabled=False):
            q, k, v = (some.to(self.dtype) for some in (q, k, v))
            found: tuple[Tensor, Tensor] = _FusedAttention.apply(q, k, v, self.buckets)  # type: ignore[no-untyped-call]
        return found

    def native(self, q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """By code that was compiled for this machine, in bfloat16 if that is asked for and its products are faster."""
        in_bf16 = torch.is_autocast_enabled("cpu")
        with torch.autocast("cpu", enabled=False):
            found: tuple[Tensor, Tensor] = NativeAttention.apply(q, k, v, self._sight, in_bf16)  # type: ignore[no-untyped-call]
        return found

    @cached_property
    def _sight(self) -> Sight:
        return Sight(self.batch, self.chunks)


class _FusedAttention(torch.autograd.Function):
    """All buckets in one function: their parts are written to where they belong, and not put together afterwards."""

    @staticmethod
    def forward(ctx: Any, q: Tensor, k: Tensor, v: Tensor, buckets: list[Bucket]) -> tuple[Tensor, Tensor]:
        mixed, sums = torch.empty_like(q, memory_format=torch.contiguous_format), q.new_empty(q.shape[:-1])
        for bucket in buckets:
            parts = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(
                *bucket.cut(q), *bucket.gather(k, v), attn_mask=bucket.mask
            )
            for whole, part in zip(bucket.cut(mixed, sums), parts, strict=True):
                whole.copy_(part)
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(q, k, v, mixed, sums)
        ctx.buckets = buckets
        return mixed, sums

    @staticmethod
    def backward(ctx: Any, of_mixed: Tensor | None, of_sums: Tensor | None) -> tuple[Tensor | None, ...]:
        q, k, v, mixed, sums = ctx.saved_tensors
        of_mixed = torch.zeros_like(mixed) if of_mixed is None else of_mixed
        if of_sums is not None:
            # A score's gradient is its weight times (what it mixes - d + of_sums), where d is the sum of of_mixed *
            # mixed, and nothing else is computed from `mixed`. So one with d - of_sums brings that of the sums, too.
            sizes = of_mixed.square().sum(-1, keepdim=True)
            of_mixed = of_mixed.where(sizes > FAINT**2, FAINT)  # what is mixed may be of no use, and its sum still be
            mixed = mixed - of_mixed * (of_sums.unsqueeze(-1) / of_mixed.square().sum(-1, keepdim=True))
        of_q, of_k, of_v = (torch.zeros_like(some, memory_format=torch.contiguous_format) for some in (q, k, v))
        for bucket in ctx.buckets:
            [outer, queries, inner, logs] = bucket.cut(of_mixed, q, mixed, sums)
            parts = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward(
                outer, queries, *bucket.gather(k, v), inner, logs, 0.0, False, attn_mask=bucket.mask
            )
            bucket.cut(of_q)[0].copy_(parts[0])
            for whole, part in zip((of_k, of_v), parts[1:], strict=True):
                whole.index_add_(0, bucket.keys, part.transpose(1, 2).flatten(0, 1))
        return of_q, of_k, of_v, None


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
        torch.from_numpy(array.astype(np.int32)).to(queries.device)
        for array in (batch.times, batch.ends, batch.positions, *batch.seen.T)
    )
    size = len(queries) // sum(map(len, buckets))
    for keys, asking in zip(buckets, queries.split([len(keys) * size for keys in buckets]), strict=True):  # type: ignore[no-untyped-call]
        now, until, since = (array[asking].view(len(keys), size, 1) for array in (times, outer, start))
        born, ends_at = times[keys][:, None], ends[keys].where(keys >= 0, -1)[:, None]  # (chunks, 1, K)
        seen = (born <= now) & (now < ends_at) & in_sight(positions[keys][:, None], until, since)  # (chunks, Q, K)
        yield torch.where(seen, 0.0, -torch.inf)[:, None]
