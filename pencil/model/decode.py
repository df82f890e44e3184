"""Feeding tokens to a transformer with a cache: prompts, answers and single tokens of many rows in one call."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple, cast

import torch
from torch import Tensor
from torch.nn import functional as F

from pencil.model.cache import KVCache
from pencil.model.quick import QuickBlock
from pencil.model.single import SingleToken, array
from pencil.model.transformer import Block, Transformer

WIDE = 12
"""Up to this many tokens of each row attend in one call for all rows."""


class CachedDecoder:
    """A transformer and the cache of what it has read; the `GuessingDecoder` protocol."""

    def __init__(self, model: Transformer) -> None:
        self.model = model
        self.cache = KVCache(model.config, model.embedding.weight.device)
        self.blocks = [QuickBlock(cast(Block, block)) for block in model.blocks]
        self.single = SingleToken(model) if SingleToken.fits(model) else None

    def feed(self, rows: Sequence[int], tokens: Sequence[Sequence[int]]) -> Tensor:
        """Append tokens to rows; the logits after each row's last token, (rows, V)."""
        if self.single is not None and len(rows) == len(tokens[0]) == 1:
            return self._feed_single(self.single, rows[0], tokens[0][0])
        return self.feed_guesses(rows, tokens, [()] * len(rows))

    @torch.inference_mode()
    def feed_guesses(
        self, rows: Sequence[int], tokens: Sequence[Sequence[int]], guesses: Sequence[Sequence[int]]
    ) -> Tensor:
        """Append tokens and then a guess to each row, all in one pass; the logits after the tokens and each guess."""
        feed = _Feed(self.cache, rows, [[*own, *guess] for own, guess in zip(tokens, guesses, strict=True)])
        hidden = self.model.hidden(feed.tokens, feed.positions, feed.attend, self.blocks)  # (N, D)
        return self.model.logits(hidden[feed.last(1 + len(guess) for guess in guesses)])

    @torch.inference_mode()
    def _feed_single(self, single: SingleToken, row: int, token: int) -> Tensor:
        cache, slot = self.cache, self.cache.slot(row)
        cache.lengths[slot] += 1
        cache.reserve(cache.lengths[slot])
        held = [(array(keys)[slot], array(values)[slot]) for keys, values in cache.layers]  # (H, tokens, E) each
        return torch.from_numpy(single(token, cache.lengths[slot] - 1, held)).unsqueeze(0)

    def rewind(self, row: int, length: int) -> None:
        """Forget all but the first `length` tokens of a row."""
        self.cache.rewind(row, length)

    @torch.inference_mode()
    def drop(self, row: int) -> None:
        """Forget a row and free its slot."""
        self.cache.drop(row)


class _Span(NamedTuple):
    """One row's tokens in a call: from `start` to `end` of all, after those that its slot held before."""

    slot: int
    held: int
    start: int
    end: int


class _Feed:
    """One call's tokens laid flat in the order of slots; planned once, used by all layers.

    The last few tokens of every row attend in one call. The tokens before them in a row with more, which is a prompt or
    a long answer, attend in a call of their own.
    """

    def __init__(self, cache: KVCache, rows: Sequence[int], tokens: Sequence[Sequence[int]]) -> None:
        self.cache, self.spans = cache, dict.fromkeys(rows, _Span(0, 0, 0, 0))
        flat: list[int] = []
        slots: list[int] = []
        positions: list[int] = []
        for slot, row, added in sorted((cache.slot(row), row, added) for row, added in zip(rows, tokens, strict=True)):
            held = cache.lengths[slot]
            self.spans[row] = _Span(slot, held, len(flat), len(flat) + len(added))
            flat.extend(added)
            slots.extend([slot] * len(added))
            positions.extend(range(held, held + len(added)))
            cache.lengths[slot] += len(added)
        cache.reserve(max(cache.lengths))
        self.tokens, where, self.positions = torch.tensor([flat, slots, positions], device=cache.device)
        self.places = cache.places(where, self.positions)
        spans = sorted(self.spans.values())
        width = _shared_width([span.end - span.start for span in spans])
        longer = [span for span in spans if span.end - span.start > width]
        self.parts: list[_Tails | _Start] = [_Tails(spans, width, cache.device)]
        self.parts += [_Start(span, width, cache.device) for span in longer]

    def last(self, counts: Iterable[int]) -> list[int]:
        """Where the last tokens of each row are, this many of each, in the order in which the rows were given."""
        spans = zip(self.spans.values(), counts, strict=True)
        return [place for span, count in spans for place in range(span.end - count, span.end)]

    def attend(self, layer: int, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        """Store k and v, (N, H, E) each, then mix the values of all that each query may see."""
        keys, values = self.cache.store(layer, self.places, k, v)  # (slots, H, tokens, E) each
        mixed = torch.empty_like(q)
        for part in self.parts:
            mixed[part.places] = part(q[part.places], keys, values)
        return mixed


def _shared_width(counts: list[int]) -> int:
    """How many last tokens of each row attend together: as many as three rows of four have, unless that is a lot."""
    width = sorted(counts)[len(counts) * 3 // 4]
    return width if width <= WIDE else 1


class _Tails:
    """The last tokens of every row in one call over all slots; a row with fewer repeats its first."""

    def __init__(self, spans: list[_Span], width: int, device: torch.device | None) -> None:
        self.slots, held, starts, ends = zip(*spans, strict=True)
        held, starts, ends = torch.tensor([held, starts, ends], device=device).unsqueeze(-1)  # (rows, 1) each
        self.places = (ends - width + torch.arange(width, device=device)).maximum(starts)  # (rows, width)
        seen = self.places - starts + held + 1  # (rows, width), how many tokens each may see
        self.length = int(seen.max())
        self.mask = _mask(seen, self.length).unsqueeze(1)  # (rows, 1, width, length)

    def __call__(self, q: Tensor, keys: Tensor, values: Tensor) -> Tensor:
        """(rows, width, H, E) -> (rows, width, H, E)."""
        dense = self.slots == tuple(range(len(q)))
        chosen = slice(len(q)) if dense else list(self.slots)  # rows that are not fed cost a copy of those that are
        keys, values = (tensor[chosen, :, : self.length] for tensor in (keys, values))
        return _mix(q, keys, values, self.mask)


class _Start:
    """All but the last tokens of one row, each blind to those after it."""

    def __init__(self, span: _Span, width: int, device: torch.device | None) -> None:
        self.slot, self.places, count = span.slot, slice(span.start, span.end - width), span.end - width - span.start
        self.length = span.held + count
        self.mask = _mask(torch.arange(span.held + 1, self.length + 1, device=device), self.length)

    def __call__(self, q: Tensor, keys: Tensor, values: Tensor) -> Tensor:
        """(T, H, E) -> (T, H, E)."""
        keys, values = (tensor[self.slot, None, :, : self.length] for tensor in (keys, values))
        return _mix(q.unsqueeze(0), keys, values, self.mask).squeeze(0)


def _mask(seen: Tensor, length: int) -> Tensor:
    """(..., T) numbers of tokens to see -> (..., T, length): 0 for these, -inf for the rest."""
    hidden = torch.arange(length, device=seen.device) >= seen.unsqueeze(-1)
    return torch.zeros(hidden.shape, device=seen.device).masked_fill_(hidden, -torch.inf)


def _mix(q: Tensor, keys: Tensor, values: Tensor, mask: Tensor) -> Tensor:
    """(B, T, H, E) queries with (B, H, length, E) keys and values -> (B, T, H, E)."""
    return F.scaled_dot_product_attention(q.transpose(1, 2), keys, values, attn_mask=mask).transpose(1, 2)
