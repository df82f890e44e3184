"""Feeding tokens to a transformer with a cache: prompts, answers and single tokens of many rows in one call."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import torch
from torch import Tensor
from torch.nn import functional as F

from pencil.model.cache import KVCache
from pencil.model.quick import QuickBlock
from pencil.model.transformer import Block, Transformer

WASTE = 2**17
"""Padding, in numbers per row and layer, above which rows attend one by one: reading it costs as much as a call."""


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


@dataclass(frozen=True)
class _Group:
    """Tokens that attend in one call: equally many of each slot in a range."""

    first: int
    count: int
    """Which slots."""
    tokens: slice | list[int]
    length: int
    """How many tokens the longest of these slots holds."""
    mask: Tensor | None
    """Added to the scores, (slots, 1, T, length); None where every token sees the whole length."""


class _Feed:
    """One call's tokens laid flat in the order of slots; planned once, used by all layers.

    Every row's last token attends in one padded call. The other tokens of a row with several (a prompt, or an answer
    fed again) attend in a call of their own, and so does each row where padding would waste more than a call costs.
    """

    def __init__(self, cache: KVCache, rows: Sequence[int], tokens: Sequence[Sequence[int]]) -> None:
        self.cache = cache
        flat: list[int] = []
        slots: list[int] = []
        positions: list[int] = []
        spans: list[tuple[int, int, int]] = []  # slot, and where its tokens start and stop in the flat list
        self.lasts = [0] * len(rows)
        for slot, index in sorted((cache.slot(row), index) for index, row in enumerate(rows)):
            count, held = len(tokens[index]), cache.lengths[slot]
            spans.append((slot, len(flat), len(flat) + count))
            flat.extend(tokens[index])
            slots.extend([slot] * count)
            positions.extend(range(held, held + count))
            cache.lengths[slot] = held + count
            self.lasts[index] = len(flat) - 1
        cache.reserve(max(cache.lengths))
        self.tokens, where, self.positions = torch.tensor([flat, slots, positions], device=cache.device)
        self.places = cache.places(where, self.positions)
        self.groups = self._plan(spans)

    def _plan(self, spans: list[tuple[int, int, int]]) -> list[_Group]:
        lengths, device = self.cache.lengths, self.cache.device
        waste = (max(lengths) * len(lengths) - sum(lengths)) * 2 * self.cache.config.d_model
        if len(spans) < len(lengths) or waste > WASTE * len(lengths):
            return [_one_row(slot, start, stop, lengths[slot], device) for slot, start, stop in spans]
        rest = [(slot, start, stop - 1) for slot, start, stop in spans if stop - start > 1]
        tokens = [stop - 1 for _, _, stop in spans] if rest else slice(None)
        lasts = _Group(0, len(spans), tokens, max(lengths), _hide_padding(lengths, device))
        return [lasts, *(_one_row(slot, start, stop, lengths[slot] - 1, device) for slot, start, stop in rest)]

    def attend(self, layer: int, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        """Store k and v, (N, H, E) each, then mix the values of all that each query may see."""
        keys, values = self.cache.store(layer, self.places, k, v)  # (slots, H, tokens, E) each
        if len(self.groups) == 1:
            return _mix(self.groups[0], q, keys, values)
        mixed = torch.empty_like(q)
        for group in self.groups:
            mixed[group.tokens] = _mix(group, q[group.tokens], keys, values)
        return mixed


def _mix(group: _Group, q: Tensor, keys: Tensor, values: Tensor) -> Tensor:
    """(N, H, E) queries of a group -> (N, H, E)."""
    if group.count < len(keys):
        keys, values = keys.narrow(0, group.first, group.count), values.narrow(0, group.first, group.count)
    keys, values = keys.narrow(2, 0, group.length), values.narrow(2, 0, group.length)
    if len(q) == group.count:  # one token for each slot, by far the most frequent case
        return F.scaled_dot_product_attention(q.unsqueeze(2), keys, values, attn_mask=group.mask).squeeze(2)
    q = q.transpose(0, 1).unsqueeze(0)  # several tokens of one slot: (1, H, T, E)
    return F.scaled_dot_product_attention(q, keys, values, attn_mask=group.mask).squeeze(0).transpose(0, 1)


def _one_row(slot: int, start: int, stop: int, length: int, device: torch.device | None) -> _Group:
    """The tokens of one row, where those after each are hidden from it."""
    return _Group(slot, 1, slice(start, stop), length, _hide_later(stop - start, length, device))


def _hide_padding(lengths: list[int], device: torch.device | None) -> Tensor | None:
    """(slots, 1, 1, longest): minus infinity where a slot holds no token."""
    longest = max(lengths)
    if min(lengths) == longest:
        return None
    empty = torch.arange(longest, device=device) >= torch.tensor(lengths, device=device)[:, None]
    return torch.zeros(len(lengths), 1, 1, longest, device=device).masked_fill_(empty[:, None, None], -torch.inf)


def _hide_later(count: int, length: int, device: torch.device | None) -> Tensor | None:
    """(1, 1, count, length): the last `count` tokens of a row, each blind to those after it."""
    if count == 1:
        return None
    return torch.full((1, 1, count, length), -torch.inf, device=device).triu_(length - count + 1)
