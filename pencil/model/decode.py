"""Feeding tokens to a transformer with a cache: prompts, answers and single tokens of many rows in one call."""

from collections.abc import Sequence
from typing import cast

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from pencil.model.cache import KVCache
from pencil.model.quick import QuickBlock
from pencil.model.transformer import Block, Transformer

FEW_THREADS = 2
"""Up to this many, rows attend faster one by one on one thread than together on all of them,"""
LARGE = 2**17
"""if they hold at least this many keys."""


class CachedDecoder:
    """A transformer and the cache of what it has read; the `Decoder` protocol."""

    def __init__(self, model: Transformer) -> None:
        self.model = model
        self.cache = KVCache(model.config, model.embedding.weight.device)
        self.blocks = [QuickBlock(cast(Block, block)) for block in model.blocks]

    @torch.inference_mode()
    def feed(self, rows: Sequence[int], tokens: Sequence[Sequence[int]]) -> Tensor:
        """Append tokens to rows, all rows in one pass; the logits after each row's last token, (rows, V)."""
        feed = _Feed(self.cache, rows, tokens)
        hidden = self.model.hidden(feed.tokens, feed.positions, feed.attend, self.blocks)  # (N, D)
        return self.model.logits(hidden if feed.lasts == list(range(len(hidden))) else hidden[feed.lasts])

    def rewind(self, row: int, length: int) -> None:
        """Forget all but the first `length` tokens of a row."""
        self.cache.rewind(row, length)

    @torch.inference_mode()
    def drop(self, row: int) -> None:
        """Forget a row and free its slot."""
        self.cache.drop(row)


class _Feed:
    """One call's tokens laid flat in the order of slots; planned once, used by all layers.

    The last token of every row attends in one call of `lasts`. The other tokens of a row with several, which is a
    prompt or an answer fed again, attend in a call of their own.
    """

    def __init__(self, cache: KVCache, rows: Sequence[int], tokens: Sequence[Sequence[int]]) -> None:
        self.cache = cache
        flat: list[int] = []
        slots: list[int] = []
        positions: list[int] = []
        self.lasts = [0] * len(rows)  # where each row's last token is in the flat list
        self.longer: list[_Several] = []
        ends: list[tuple[int, int]] = []  # each row's slot, and how many tokens it now holds
        for slot, index in sorted((cache.slot(row), index) for index, row in enumerate(rows)):
            count, held = len(tokens[index]), cache.lengths[slot]
            if count > 1:
                self.longer.append(_Several(slot, slice(len(flat), len(flat) + count - 1), held, cache.device))
            flat.extend(tokens[index])
            slots.extend([slot] * count)
            positions.extend(range(held, held + count))
            cache.lengths[slot] = held + count
            ends.append((slot, held + count))
            self.lasts[index] = len(flat) - 1
        cache.reserve(max(cache.lengths))
        self.tokens, where, self.positions = torch.tensor([flat, slots, positions], device=cache.device)
        self.places = cache.places(where, self.positions)
        self.in_order = sorted(self.lasts)
        self.last = (_Vectors if _bound_by_reading(cache, ends) else _Padded)(cache, ends)

    def attend(self, layer: int, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        """Store k and v, (N, H, E) each, then mix the values of all that each query may see."""
        keys, values = self.cache.store(layer, self.places, k, v)  # (slots, H, tokens, E) each
        if not self.longer:
            return self.last(q, keys, values)
        mixed = torch.empty_like(q)
        mixed[self.in_order] = self.last(q[self.in_order], keys, values)
        for several in self.longer:
            mixed[several.tokens] = several(q[several.tokens], keys, values)
        return mixed


def _bound_by_reading(cache: KVCache, ends: list[tuple[int, int]]) -> bool:
    numbers = cache.config.d_model * sum(length for _, length in ends)
    return numbers >= LARGE and torch.get_num_threads() <= FEW_THREADS and cache.layers[0][0].device.type == "cpu"


class _Several:
    """All but the last of the tokens that one row is fed, each blind to those after it."""

    def __init__(self, slot: int, tokens: slice, held: int, device: torch.device | None) -> None:
        count = tokens.stop - tokens.start
        self.slot, self.tokens, self.length = slot, tokens, held + count
        self.mask = torch.full((count, self.length), -torch.inf, device=device).triu_(held + 1)

    def __call__(self, q: Tensor, keys: Tensor, values: Tensor) -> Tensor:
        """(T, H, E) -> (T, H, E)."""
        keys, values = (tensor[self.slot, None, :, : self.length] for tensor in (keys, values))
        q = q.transpose(0, 1).unsqueeze(0)  # (1, H, T, E)
        return F.scaled_dot_product_attention(q, keys, values, attn_mask=self.mask).squeeze(0).transpose(0, 1)


class _Padded:
    """One token of each row, in one call over all slots."""

    def __init__(self, cache: KVCache, ends: list[tuple[int, int]]) -> None:
        self.slots, lengths = zip(*ends, strict=True)
        self.length, self.mask = max(lengths), None
        if min(lengths) == self.length:
            return
        empty = torch.arange(self.length, device=cache.device) >= torch.tensor(lengths, device=cache.device)[:, None]
        self.mask = torch.zeros(empty.shape, device=cache.device).masked_fill_(empty, -torch.inf)[:, None, None]

    def __call__(self, q: Tensor, keys: Tensor, values: Tensor) -> Tensor:
        """(rows, H, E) -> (rows, H, E)."""
        dense = self.slots == tuple(range(len(q)))
        chosen = slice(len(q)) if dense else list(self.slots)  # rows that are not fed cost a copy of those that are
        keys, values = (tensor[chosen, :, : self.length] for tensor in (keys, values))
        return F.scaled_dot_product_attention(q.unsqueeze(2), keys, values, attn_mask=self.mask).squeeze(2)


class _Vectors:
    """One token of each row, row by row, as products of a vector and a matrix.

    That is bound by reading the cache. numpy's products run at the memory's speed, torch's batched ones at two thirds
    of it, and no row is padded to the length of another.
    """

    def __init__(self, cache: KVCache, ends: list[tuple[int, int]]) -> None:
        self.ends = ends
        shape = (len(ends), cache.config.n_heads, 1, max(length for _, length in ends))
        self.scores = torch.full(shape, -torch.inf)
        self.scale = cache.config.head_width**-0.5

    def __call__(self, q: Tensor, keys: Tensor, values: Tensor) -> Tensor:
        """(rows, H, E) -> (rows, H, E)."""
        queries, mixed = (q * self.scale).unsqueeze(2).numpy(), torch.empty_like(q)
        scores, held, out = self.scores.numpy(), keys.numpy(), mixed.unsqueeze(2).numpy()
        for row, (slot, length) in enumerate(self.ends):
            np.matmul(queries[row], held[slot, :, :length].transpose(0, 2, 1), out=scores[row, :, :, :length])
        shares, held = self.scores.softmax(-1).numpy(), values.numpy()
        for row, (slot, length) in enumerate(self.ends):
            np.matmul(shares[row, :, :, :length], held[slot, :, :length], out=out[row])
        return mixed
