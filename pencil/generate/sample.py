"""Choosing the next token: greedy, or drawn by temperature, top-k and top-p."""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

import torch
from torch import Tensor

from pencil.errors import ConfigError


@dataclass(frozen=True)
class Sampling:
    """How to choose; the default is greedy."""

    temperature: float = 0.0
    """0 takes the likeliest token; 1 draws from the model's distribution."""
    top_k: int | None = None
    """Draw from the k likeliest only."""
    top_p: float = 1.0
    """Of these, draw from the fewest likeliest that together hold this share of the probability."""
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.temperature < float("inf"):
            raise ConfigError(f"temperature is {self.temperature}; try 0 for greedy, or a number up to about 1")
        if self.top_k is not None and not (isinstance(self.top_k, int) and self.top_k >= 1):
            raise ConfigError(f"top_k is {self.top_k}; it keeps that many tokens, so it needs at least 1")
        if not 0 < self.top_p <= 1:
            raise ConfigError(f"top_p is {self.top_p}; it is a share of the probability, above 0 and up to 1")


GREEDY = Sampling()


class Sampler:
    """One row's choices: its settings, and random numbers of its own that follow from (seed, index)."""

    def __init__(self, sampling: Sampling, index: int = 0) -> None:
        self.sampling = sampling
        self.random = Random(f"{sampling.seed}:{index}")


class Choice:
    """Tokens by (rows, V) logits; each depends on its row's logits and its sampler alone."""

    def __init__(self, logits: Tensor) -> None:
        self.logits = logits
        self.likeliest: list[int] = logits.argmax(-1).tolist()

    def pick(self, rows: Sequence[int], samplers: Sequence[Sampler]) -> list[int]:
        """A token for each of these rows."""
        chosen = [self.likeliest[row] for row in rows]
        drawing = [index for index, sampler in enumerate(samplers) if sampler.sampling.temperature > 0]
        if drawing:
            logits = self.logits[[rows[index] for index in drawing]]
            drawn = _draw(logits.double(), [samplers[index] for index in drawing])
            for index, token in zip(drawing, drawn, strict=True):
                chosen[index] = token
        return chosen


def pick(logits: Tensor, samplers: Sequence[Sampler]) -> list[int]:
    """(rows, V) logits -> a token for each row."""
    return Choice(logits).pick(range(len(samplers)), samplers)


def _draw(logits: Tensor, samplers: Sequence[Sampler]) -> list[int]:
    """Draw one token from each row of (rows, V)."""
    settings = [sampler.sampling for sampler in samplers]
    temperature, top_k, top_p, draw = (
        torch.tensor(column, dtype=torch.float64, device=logits.device).unsqueeze(-1)  # (rows, 1)
        for column in (
            [setting.temperature for setting in settings],
            [setting.top_k or logits.shape[-1] for setting in settings],
            [setting.top_p for setting in settings],
            [sampler.random.random() for sampler in samplers],
        )
    )
    above = logits.max(-1, keepdim=True).values
    scores, tokens = ((logits - above) / temperature).sort(dim=-1, descending=True, stable=True)
    scores = scores.masked_fill(torch.arange(scores.shape[-1], device=logits.device) >= top_k, -torch.inf)
    share = scores.softmax(-1)
    share = share * (share.cumsum(-1) - share < top_p)  # up to and with the token that reaches top_p
    mass = share.cumsum(-1)
    place = torch.searchsorted(mass, draw * mass[:, -1:], right=True)  # the first whose mass exceeds the draw
    last = (share > 0).sum(-1, keepdim=True) - 1
    drawn: list[int] = tokens.gather(-1, place.minimum(last)).squeeze(-1).tolist()
    return drawn
