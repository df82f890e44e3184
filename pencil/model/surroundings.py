"""What a word knows from the start of the live sequence that it stands in: the words before it, how deep it is, where.

All are rows of one table that are added to its embedding, so a caller names them by their numbers: first the words
before it, each by what it is and how far back, then its level, then its place. What was erased adds nothing. Words may
come in pairs: then a row is for a word and the one before it, and the first of them is the word itself with its own.

The level of a word is how many calls are open where it stands: the `[CALL]`s up to it, less the `[RETURN]`s, of which a
live sequence has none that matched, and a chain of thought all. Where a word sees only some frames, levels are counted
round and round: two of them tell a call from the one around it, and what is learned at one depth holds at all. Its
place is how far it is from the last `[CALL]`, or from the start where there is none.
"""

from collections.abc import Sequence
from math import tau

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from pencil.model.config import ModelConfig
from pencil.model.frames import MARKS

SIZE = 0.25
"""Deviation of what each row adds to an embedding at first."""
SHORTEST, LONGEST = 4.0, 1_000.0
"""The periods of the waves that the rows of places are at first, so that one never seen is like its neighbours."""


class Surroundings(nn.Module):
    """The table, and the sum of those of its rows that a word names."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.places = config.places
        rows = config.word_rows + config.levels + config.places
        self.weight = nn.Parameter(torch.empty(rows, config.d_model))

    @torch.no_grad()
    def initialise(self, generator: torch.Generator) -> None:
        """At random, but for the rows of places."""
        self.weight.normal_(0.0, SIZE, generator=generator)
        half = self.weight.shape[1] // 2
        periods = torch.logspace(0, 1, half, base=LONGEST / SHORTEST, dtype=torch.float64) * SHORTEST
        angles = tau * torch.outer(torch.arange(self.places), 1 / periods)  # (places, D / 2)
        self.weight[len(self.weight) - self.places :] = SIZE * 2**0.5 * torch.cat((angles.sin(), angles.cos()), 1)

    def forward(self, rows: Tensor) -> Tensor:
        """(..., F) numbers of rows, -1 where there is none -> (..., D)."""
        there = (rows >= 0).to(self.weight)
        flat = rows.clamp(min=0).reshape(-1, rows.shape[-1])
        added = F.embedding_bag(flat, self.weight, mode="sum", per_sample_weights=there.view_as(flat))
        return added.view(*rows.shape[:-1], -1)


def find_rows(tokens: Tensor, config: ModelConfig) -> Tensor:
    """(..., T) a sequence from its start -> (..., T, F): the rows that each token names, the nearest word first.

    >>> config = ModelConfig(10, n_layers=1, d_model=2, n_heads=1, recent=2, levels=4, places=8)
    >>> find_rows(torch.tensor([7, 3, 9]), config).tolist()
    [[-1, -1, 20, 24], [7, -1, 21, 24], [3, 17, 21, 25]]
    """
    parts, first = [], config.word_rows
    if config.recent:
        known = F.pad(tokens, (config.recent, 0), value=-1).unfold(-1, config.recent + 1, 1).flip(-1)  # nearest first
        before = known[..., 1:]
        rows = config.vocab_size * torch.arange(config.recent, device=tokens.device) + before
        if config.pairs:
            rows = config.vocab_size * rows + known[..., :-1]
        parts.append(torch.where(before >= 0, rows, -1))
    if config.levels:
        level = ((tokens == MARKS.call).int() - (tokens == MARKS.ret).int()).cumsum(-1)
        told = level % config.levels if config.frames else level.clamp(0, config.levels - 1)
        parts.append(first + told.unsqueeze(-1))
        first += config.levels
    if config.places:
        here = torch.arange(tokens.shape[-1], device=tokens.device).expand_as(tokens)
        place = here - torch.where(tokens == MARKS.call, here, 0).cummax(-1).values
        parts.append(first + place.clamp(max=config.places - 1).unsqueeze(-1))
    return torch.cat(parts, -1)


def find_last_rows(tokens: Sequence[int], start: int, config: ModelConfig) -> list[list[int]]:
    """The same for the tokens of a sequence from a place on; for so few, lists are faster than tensors.

    >>> config = ModelConfig(10, n_layers=1, d_model=2, n_heads=1, recent=2, levels=4, places=8)
    >>> find_last_rows([7, 3, 9], start=1, config=config)
    [[7, -1, 21, 24], [3, 17, 21, 25]]
    """
    known = [-1] * config.recent + list(tokens[max(0, start - config.recent) :])
    first = len(known) - len(tokens) + start
    rows = [rows_of_words(known[at - config.recent : at + 1][::-1], config) for at in range(first, len(known))]
    if config.levels or config.places:
        level, place = _stand_before(tokens, start)
        for row, token in zip(rows, tokens[start:], strict=True):
            level += (token == MARKS.call) - (token == MARKS.ret)
            place = 0 if token == MARKS.call else place + 1
            row += rows_of_stand(level, place, config)
    return rows


def rows_of_words(known: Sequence[int], config: ModelConfig) -> list[int]:
    """The rows of a word and those before it, the nearest first, -1 where there is none.

    >>> config = ModelConfig(10, n_layers=1, d_model=2, n_heads=1, recent=2, pairs=True)
    >>> rows_of_words([9, 3, -1], config)
    [39, -1]
    """
    rows = [back * config.vocab_size + before for back, before in enumerate(known[1:])]
    if config.pairs:
        rows = [row * config.vocab_size + word for row, word in zip(rows, known[:-1], strict=True)]
    return [row if before >= 0 else -1 for row, before in zip(rows, known[1:], strict=True)]


def rows_of_stand(level: int, place: int, config: ModelConfig) -> list[int]:
    """The rows of a level and a place."""
    first, rows = config.word_rows, list[int]()
    if config.levels:
        rows.append(first + (level % config.levels if config.frames else min(max(level, 0), config.levels - 1)))
    return [*rows, first + config.levels + min(place, config.places - 1)] if config.places else rows


def _stand_before(tokens: Sequence[int], start: int) -> tuple[int, int]:
    """The level and the place of the token before one."""
    before = list(tokens[:start])
    last_call = next((at for at in range(start - 1, -1, -1) if before[at] == MARKS.call), 0)
    return before.count(MARKS.call) - before.count(MARKS.ret), start - 1 - last_call
