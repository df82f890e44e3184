"""Feeding tokens to a transformer with a cache: prompts, answers and single tokens of many rows in one call."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple, cast

import torch
from torch import Tensor
from torch.nn import functional as F

from pencil.model.cache import KVCache
from pencil.model.frames import Seen, find_seen, in_sight
from pencil.model.quick import QuickBlock
from pencil.model.single import SingleToken, array
from pencil.model.surroundings import find_last_rows
from pencil.model.transformer import Block, Transformer


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
        hidden = self.model.hidden(feed.tokens, feed.positions, feed.attend, self.blocks, feed.around)  # (N, D)
        return self.model.logits(hidden[feed.last(1 + len(guess) for guess in guesses)])

    @torch.inference_mode()
    def _feed_single(self, single: SingleToken, row: int, token: int) -> Tensor:
        cache, slot = self.cache, self.cache.slot(row)
        cache.tokens[slot].append(token)
        cache.reserve(len(cache.tokens[slot]))
        held = [(array(keys)[slot], array(values)[slot]) for keys, values in cache.layers]  # (H, tokens, E) each
        return torch.from_numpy(single(cache.tokens[slot], held)).unsqueeze(0)

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
    seen: list[Seen]
    """What each of them sees."""


class _Feed:
    """One call's tokens laid flat in the order of slots; planned once, used by all layers.

    Single tokens of all rows attend in one call, as far as the longest row. Several tokens are worth a call for each
    row: it reads no more keys and values than that row has, once for all of its tokens.
    """

    def __init__(self, cache: KVCache, rows: Sequence[int], tokens: Sequence[Sequence[int]]) -> None:
        self.cache, self.spans = cache, dict.fromkeys(rows, _Span(0, 0, 0, 0, []))
        flat: list[int] = []
        slots: list[int] = []
        positions: list[int] = []
        around: list[list[int]] = []
        for slot, row, added in sorted((cache.slot(row), row, added) for row, added in zip(rows, tokens, strict=True)):
            held = len(cache.tokens[slot])
            cache.tokens[slot].extend(added)
            seen = find_seen(cache.tokens[slot], cache.config.frames, cache.config.outermost, held)
            self.spans[row] = _Span(slot, held, len(flat), len(flat) + len(added), seen)
            flat.extend(added)
            slots.extend([slot] * len(added))
            positions.extend(range(held, held + len(added)))
            around.extend(find_last_rows(cache.tokens[slot], held, cache.config))
        cache.reserve(max(cache.lengths))
        self.tokens, where, self.positions = torch.tensor([flat, slots, positions], device=cache.device)
        self.around = torch.tensor(around, device=cache.device)
        self.places = cache.places(where, self.positions)
        spans = sorted(self.spans.values())
        self.parts: list[_Singles | _Several] = (
            [_Singles(spans, cache.device)]
            if len(flat) == len(rows)
            else [_Several(span, cache.device) for span in spans]
        )

    def last(self, counts: Iterable[int]) -> list[int]:
        """Where the last tokens of each row are, this many of each, in the order in which the rows were given."""
        spans = zip(self.spans.values(), counts, strict=True)
        return [place for span, count in spans for place in range(span.end - count, span.end)]

    def attend(self, layer: int, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        """Store k and v, (N, H, E) each, then mix the values of all that each query may see."""
        keys, values = self.cache.store(layer, self.places, k, v)  # (slots, H, tokens, E) each
        heads = q.transpose(0, 1).unsqueeze(0)  # (1, H, N, E)
        return torch.cat([part(heads, keys, values) for part in self.parts], 2).squeeze(0).transpose(0, 1)


class _Singles:
    """One token of every row."""

    def __init__(self, spans: list[_Span], device: torch.device | None) -> None:
        self.slots = [span.slot for span in spans]
        last = torch.tensor([[span.held] for span in spans], device=device)  # (rows, 1)
        seen = [span.seen for span in spans]
        self.reach = slice(min(one.first for [one] in seen), int(last.max()) + 1)
        self.mask = _mask(torch.tensor(seen, device=device), last, self.reach).unsqueeze(1)  # (rows, 1, 1, length)

    def __call__(self, q: Tensor, keys: Tensor, values: Tensor) -> Tensor:
        """(1, H, rows, E) -> (1, H, rows, E)."""
        dense = self.slots == list(range(len(self.slots)))
        chosen = slice(len(self.slots)) if dense else self.slots  # rows that are not fed cost a copy of those that are
        keys, values = (tensor[chosen, :, self.reach] for tensor in (keys, values))
        return F.scaled_dot_product_attention(q.transpose(0, 2), keys, values, attn_mask=self.mask).transpose(0, 2)


class _Several:
    """The tokens of one row, each blind to those after it."""

    def __init__(self, span: _Span, device: torch.device | None) -> None:
        self.slot, self.start, self.count = span.slot, span.start, span.end - span.start
        self.reach = slice(min(one.first for one in span.seen), span.held + self.count)
        last = torch.arange(span.held, self.reach.stop, device=device)
        self.mask = _mask(torch.tensor(span.seen, device=device), last, self.reach)

    def __call__(self, q: Tensor, keys: Tensor, values: Tensor) -> Tensor:
        """(1, H, N, E) -> (1, H, T, E), for the T tokens of this row."""
        keys, values = (tensor[self.slot : self.slot + 1, :, self.reach] for tensor in (keys, values))
        return F.scaled_dot_product_attention(q.narrow(2, self.start, self.count), keys, values, attn_mask=self.mask)


def _mask(seen: Tensor, last: Tensor, reach: slice) -> Tensor:
    """(..., T, 2) and (..., T), what each token sees and up to where -> (..., T, length): 0 for these, else -inf."""
    keys = torch.arange(reach.start, reach.stop, device=seen.device)
    outer, start = seen.unsqueeze(-2).unbind(-1)  # (..., T, 1) each
    visible = in_sight(keys, outer, start) & (keys <= last.unsqueeze(-1))
    return torch.zeros(visible.shape, device=seen.device).masked_fill_(~visible, -torch.inf)
