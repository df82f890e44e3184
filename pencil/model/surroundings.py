"""What a word knows from the start of the live sequence that it stands in: the words before it, and how deep it is.

Both are rows of one table that are added to its embedding, so a caller names them by their numbers: first the words
before it, each by what it is and how far back, then its level. What was erased adds nothing.

The level of a word is how many calls are open where it stands: the `[CALL]`s up to it, less the `[RETURN]`s, of which a
live sequence has none that matched, and a chain of thought all.
"""

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from pencil.model.config import ModelConfig
from pencil.tokens import Vocab

MARKS = Vocab(()).marks
"""The same in every vocabulary."""
SIZE = 0.25
"""Deviation of what each row adds to an embedding at first."""


class Surroundings(nn.Module):
    """The table, and the sum of those of its rows that a word names."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(config.recent * config.vocab_size + config.levels, config.d_model))

    def forward(self, rows: Tensor) -> Tensor:
        """(..., F) numbers of rows, -1 where there is none -> (..., D)."""
        there = (rows >= 0).to(self.weight)
        flat = rows.clamp(min=0).reshape(-1, rows.shape[-1])
        added = F.embedding_bag(flat, self.weight, mode="sum", per_sample_weights=there.view_as(flat))
        return added.view(*rows.shape[:-1], -1)


def find_rows(tokens: Tensor, config: ModelConfig) -> Tensor:
    """(..., T) a sequence from its start -> (..., T, F): the rows that each token names, the nearest word first.

    >>> config = ModelConfig(10, n_layers=1, d_model=2, n_heads=1, recent=2, levels=4)
    >>> find_rows(torch.tensor([7, 3, 9]), config).tolist()
    [[-1, -1, 20], [7, -1, 21], [3, 17, 21]]
    """
    parts = []
    if config.recent:
        before = F.pad(tokens, (config.recent, 0), value=-1).unfold(-1, config.recent, 1)[..., :-1, :].flip(-1)
        first_rows = config.vocab_size * torch.arange(config.recent, device=tokens.device)
        parts.append(torch.where(before >= 0, before + first_rows, -1))
    if config.levels:
        level = ((tokens == MARKS.call).int() - (tokens == MARKS.ret).int()).cumsum(-1).clamp(0, config.levels - 1)
        parts.append(config.recent * config.vocab_size + level.unsqueeze(-1))
    return torch.cat(parts, -1)


def find_last_rows(tokens: Sequence[int], start: int, config: ModelConfig) -> list[list[int]]:
    """The same for the tokens of a sequence from a place on; for so few, lists are faster than tensors.

    >>> config = ModelConfig(10, n_layers=1, d_model=2, n_heads=1, recent=2, levels=4)
    >>> find_last_rows([7, 3, 9], start=1, config=config)
    [[7, -1, 21], [3, 17, 21]]
    """
    known = [-1] * config.recent + list(tokens[max(0, start - config.recent) :])
    first = len(known) - len(tokens) + start
    rows = [
        [
            back * config.vocab_size + word if word >= 0 else -1
            for back, word in enumerate(known[place - config.recent : place][::-1])
        ]
        for place in range(first, len(known))
    ]
    if config.levels:
        level = tokens[:start].count(MARKS.call) - tokens[:start].count(MARKS.ret)
        for row, token in zip(rows, tokens[start:], strict=True):
            level += (token == MARKS.call) - (token == MARKS.ret)
            row.append(config.recent * config.vocab_size + min(max(level, 0), config.levels - 1))
    return rows
