"""A real transformer that has learned a few traces by heart, so that its greedy choices are sharp."""

from dataclasses import dataclass
from random import Random

import pytest
import torch
from torch.nn import functional as F

from pencil.model.transformer import ModelConfig, Transformer
from pencil.rule import segments
from tests.generate.fakes import CALL, END, MARKS, RET, SEP, V


@dataclass(frozen=True)
class Learned:
    model: Transformer
    prompts: list[list[int]]
    traces: list[list[int]]


def random_thought(rng: Random, depth: int) -> list[int]:
    """Words and calls; answers are never empty, or what follows a call would have to be that call again."""
    thought: list[int] = []
    for _ in range(rng.randint(1, 3)):
        thought.append(rng.randint(4, 9))
        if depth and rng.random() < 0.7:
            answer = [rng.randint(4, 9) for _ in range(rng.choice([1, 2, 6]))]
            thought += [CALL, *random_thought(rng, depth - 1), SEP, *answer, RET]
    return thought


@pytest.fixture(scope="session")
def learned() -> Learned:
    rng = Random(0)
    prompts = [[4, first, second] for first in (5, 6) for second in (7, 8, 9)]
    traces = [[*random_thought(rng, 2), END] for _ in prompts]
    lessons = [s for prompt, trace in zip(prompts, traces, strict=True) for s in segments(prompt, trace, MARKS)]
    longest = max(len(lesson.tokens) for lesson in lessons)
    tokens = torch.tensor([lesson.tokens + [END] * (longest - len(lesson.tokens)) for lesson in lessons])
    target = tokens.clone()
    for row, lesson in zip(target, lessons, strict=True):
        row[: lesson.start] = row[len(lesson.tokens) :] = -100
    model = Transformer(ModelConfig(V, n_layers=2, d_model=64, n_heads=2, context=96))
    optimiser = torch.optim.AdamW(model.parameters(), lr=4e-3, weight_decay=0.0)
    for _ in range(150):
        loss = F.cross_entropy(model(tokens[:, :-1]).flatten(0, 1), target[:, 1:].flatten())
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
    return Learned(model, prompts, traces)
