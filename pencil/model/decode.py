"""Feeding tokens to a transformer with a cache: prompts, answers and single tokens of many rows in one call."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor
from torch.nn import functional as F

from pencil.model.cache import KVCache

if TYPE_CHECKING:
    from pencil.model.transformer import Transformer

WASTE = 64 * 1024
"""Padded numbers per row and layer above which rows attend one by one; about the cost of a call."""


class CachedDecoder:
    """A transformer and the cache of what it has read; the `Decoder` protocol."""

    def __init__(self, model: "Transformer") -> None:
        self.model = model
        self.cache = KVCache(model.config, model.embedding.weight.device)

    @torch.inference_mode()
    def feed(self, rows: Sequence[int], tokens: Sequence[Sequence[int]]) -> Tensor:
        """Append tokens to rows, all rows in one pass; the logits after each row's last token, (rows, V)."""
        feed = _Feed(self.cache, rows, tokens)
        hidden = self.model.hidden(feed.tokens, feed.positions, feed.attend)  # (N, D)
        return self.model.logits(hidden[feed.lasts])

    @torch.inference_mode()
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

    slots: slice
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
        device = cache.layers[0].device
        self.tokens, self.slots, self.positions = torch.tensor([flat, slots, positions], device=device)
        self.groups = self._plan(spans)

    def _plan(self, spans: list[tuple[int, int, int]]) -> list[_Group]:
        lengths, config = self.cache.lengths, self.cache.config
        waste = (max(lengths) * len(lengths) - sum(lengths)) * 2 * config.d_model
        if len(spans) < len(lengths) or waste > WASTE * len(lengths):
            return [self._row(slot, start, stop, lengths[slot]) for slot, start, stop in spans]
        rest = [(slot, start, stop - 1) for slot, start, stop in spans if stop - start > 1]
        tokens = [stop - 1 for _, _, stop in spans] if rest else slice(None)
        lasts = _Group(slice(0, len(spans)), tokens, max(lengths), _hide_padding(lengths, self.slots.device))
        return [lasts, *(self._row(slot, start, stop, lengths[slot] - 1) for slot, start, stop in rest)]

    def _row(self, slot: int, start: int, stop: int, length: int) -> _Group:
        """The tokens of one row, where those after each are hidden from it."""
        return _Group(
            slice(slot, slot + 1), slice(start, stop), length, _hide_later(stop - start, length, self.slots.device)
        )

    def attend(self, layer: int, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        """Store k and v, (N, H, E) each, then mix the values of all that each query may see."""
        keys, values = self.cache.layers[layer]  # (slots, H, tokens, E) each
        keys[self.slots, :, self.positions] = k
        values[self.slots, :, self.positions] = v
        if len(self.groups) == 1:
            return _mix(self.groups[0], q, keys, values)
        mixed = torch.empty_like(q)
        for group in self.groups:
            mixed[group.tokens] = _mix(group, q[group.tokens], keys, values)
        return mixed


def _mix(group: _Group, q: Tensor, keys: Tensor, values: Tensor) -> Tensor:
    """(N, H, E) queries of a group -> (N, H, E)."""
    keys, values = keys[group.slots, :, : group.length], values[group.slots, :, : group.length]
    q = q.reshape(len(keys), -1, *q.shape[1:]).transpose(1, 2)  # (slots, H, T, E)
    mixed = F.scaled_dot_product_attention(q, keys, values, attn_mask=group.mask)
    return mixed.transpose(1, 2).flatten(0, 1)


def _hide_padding(lengths: list[int], device: torch.device) -> Tensor | None:
    """(slots, 1, 1, longest): minus infinity where a slot holds no token."""
    longest = max(lengths)
    if min(lengths) == longest:
        return None
    empty = torch.arange(longest, device=device) >= torch.tensor(lengths, device=device)[:, None]
    return torch.zeros(len(lengths), 1, 1, longest, device=device).masked_fill_(empty[:, None, None], -torch.inf)


def _hide_later(count: int, length: int, device: torch.device) -> Tensor | None:
    """(1, 1, count, length): the last `count` tokens of a row, each blind to those after it."""
    if count == 1:
        return None
    return torch.full((1, 1, count, length), -torch.inf, device=device).triu_(length - count + 1)
