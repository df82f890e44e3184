"""Training in bfloat16: its products, and attention over the chunks of a packed batch on CPUs that have it.

Weights, their moments, the stream and all sums over tokens stay in float32. Of attention, the products and the scores
are in bfloat16, exponentials and sums in float32; other than torch's own kernel it holds the weight of every pair of a
query and a key until its gradient is known, at two bytes each. Chunks come one by one, and their keys in whole blocks,
so that there are few different shapes: the library behind the products compiles code for each of them once.

Shapes in comments: N packed tokens, A that ask, in chunks of Q, K keys of a chunk, H heads of width E.
"""

from collections.abc import Sequence
from math import log
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

NATIVE = ("avx512_bf16", "amx_bf16", "bf16")
"""What torch calls the instructions for products in bfloat16, on x86 and on ARM."""
BLOCK = 64
"""Keys are filled up to a multiple of this."""


def has_bf16() -> bool:
    """Whether this CPU has instructions for products in bfloat16; without them float32 may be many times faster."""
    known: dict[str, Any] = getattr(torch.cpu, "get_capabilities", dict)()  # older versions of torch do not say
    return any(known.get(name) for name in NATIVE)


def in_bf16(device: str) -> torch.autocast:
    """A context whose products are in bfloat16; what is cast is not kept, since hands would share it."""
    return torch.autocast(device, torch.bfloat16, cache_enabled=False)


class Chunk(NamedTuple):
    """Queries after each other, and their keys."""

    rows: slice
    """Which of the queries are its own, Q of them."""
    keys: Tensor
    """(K,) which tokens are its keys; padding reads the first, and is masked."""
    mask: Tensor
    """(Q, K), to be added to the scores."""


def fill_chunk(rows: slice, keys: Tensor, mask: Tensor) -> Chunk:
    """A chunk with its keys in whole blocks."""
    missing = -len(keys) % BLOCK
    return Chunk(rows, F.pad(keys, (0, missing)), F.pad(mask, (0, missing), value=-torch.inf).to(torch.bfloat16))


class BFloat16Attention(torch.autograd.Function):
    """Queries (A, H, E), keys and values (N, H, E), chunks -> mixed values (A, H, E), logarithms of the sums (A, H)."""

    @staticmethod
    def forward(ctx: Any, q: Tensor, k: Tensor, v: Tensor, chunks: Sequence[Chunk]) -> tuple[Tensor, Tensor]:
        """The weights of a chunk are kept, not yet divided by their sum."""
        scale = q.shape[-1] ** -0.5 / log(2)  # powers of two are computed faster than those of e
        queries, keys, values = _by_head(q * scale), _by_head(k), _by_head(v)
        mixed, sums = q.new_empty(queries.shape), q.new_empty(*queries.shape[:2], 1)  # (H, A, E), (H, A, 1)
        weights = []
        for chunk in chunks:
            asking, some = queries[:, chunk.rows], keys.index_select(1, chunk.keys)
            scores = torch.baddbmm(chunk.mask, asking, some.mT).float()  # (H, Q, K)
            largest = scores.amax(-1, keepdim=True)
            powers = scores.sub_(largest).exp2_()
            total = powers.sum(-1, keepdim=True)
            weights += [powers.to(queries), total]
            torch.div(weights[-2] @ values.index_select(1, chunk.keys), total, out=mixed[:, chunk.rows])
            sums[:, chunk.rows] = (total.log2() + largest) * log(2)
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(queries, keys, values, mixed, *weights)
        ctx.chunks = chunks
        return mixed.transpose(0, 1), sums.squeeze(-1).T

    @staticmethod
    def backward(ctx: Any, of_mixed: Tensor | None, of_sums: Tensor | None) -> tuple[Tensor | None, ...]:
        """A score's gradient is its weight times what it mixes, less what all of its query's mix on average."""
        queries, keys, values, mixed, *weights = ctx.saved_tensors
        outer = torch.zeros_like(mixed) if of_mixed is None else of_mixed.transpose(0, 1)  # (H, A, E)
        offset = (outer * mixed).sum(-1, keepdim=True)  # (H, A, 1) that average
        if of_sums is not None:
            offset = offset - of_sums.T.unsqueeze(-1)
        of_q = torch.empty_like(mixed)
        of_k, of_v = (mixed.new_zeros(keys.shape[1], keys.shape[0] * keys.shape[2]) for _ in range(2))  # (N, H * E)
        for chunk, powers, total in zip(ctx.chunks, weights[::2], weights[1::2], strict=True):
            asking, some = queries[:, chunk.rows], keys.index_select(1, chunk.keys)
            by_total = (outer[:, chunk.rows] / total).to(queries)
            of_scores = by_total @ values.index_select(1, chunk.keys).mT
            of_scores.sub_((offset[:, chunk.rows] / total).to(queries)).mul_(powers)  # (H, Q, K)
            torch.mul(of_scores @ some, keys.shape[-1] ** -0.5, out=of_q[:, chunk.rows])
            for whole, part in ((of_k, of_scores.mT @ asking), (of_v, powers.mT @ by_total)):
                whole.index_add_(0, chunk.keys, part.transpose(0, 1).to(whole).flatten(1))
        of_k *= log(2)
        heads = (-1, keys.shape[0], keys.shape[2])
        return of_q.transpose(0, 1), of_k.view(heads), of_v.view(heads), None


def _by_head(tokens: Tensor) -> Tensor:
    """(N, H, E) -> (H, N, E) in bfloat16."""
    return tokens.to(torch.bfloat16).transpose(0, 1).contiguous()
