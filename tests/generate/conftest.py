"""A real transformer that has learned a few traces by heart, so that its greedy choices are sharp."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import pytest
import torch
from torch.nn import functional as F

from pencil.errors import ParseError
from pencil.model.checkpoint import Checkpoint, save
from pencil.model.transformer import ModelConfig, Transformer
from pencil.rule import segments
from pencil.tasks import Task
from pencil.tokens import Marks, split
from pencil.trace import TraceWriter
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


def memorise(model: Transformer, traces: Sequence[tuple[Sequence[int], Sequence[int]]], marks: Marks[int]) -> None:
    """Train on the segments of prompts and what follows them until they are known by heart."""
    lessons = [segment for prompt, generated in traces for segment in segments(prompt, generated, marks)]
    longest = max(len(lesson.tokens) for lesson in lessons)
    tokens = torch.tensor([lesson.tokens + [0] * (longest - len(lesson.tokens)) for lesson in lessons])
    target = tokens.clone()
    for row, lesson in zip(target, lessons, strict=True):
        row[: lesson.start] = row[len(lesson.tokens) :] = -100
    optimiser = torch.optim.AdamW(model.parameters(), lr=4e-3, weight_decay=0.0)
    for _ in range(200):
        loss = F.cross_entropy(model(tokens[:, :-1]).flatten(0, 1), target[:, 1:].flatten())
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()


@pytest.fixture(scope="session", params=[0, 3], ids=["", "surroundings"])
def learned(request: pytest.FixtureRequest) -> Learned:
    """With words that do not know what is around them, and with words that do."""
    rng = Random(0)
    prompts = [[4, first, second] for first in (5, 6) for second in (7, 8, 9)]
    traces = [[*random_thought(rng, 2), END] for _ in prompts]
    known: int = request.param
    around: dict[str, Any] = {"recent": known, "pairs": known > 0, "levels": known, "places": 8 * known}
    model = Transformer(ModelConfig(V, n_layers=2, d_model=64, n_heads=2, context=96, **around))
    memorise(model, list(zip(prompts, traces, strict=True)), MARKS)
    return Learned(model, prompts, traces)


class Total(Task[tuple[int, ...]]):
    """Adds a few digits, one call for each; small enough to be learned by heart in a second."""

    name = "total"
    sizes = range(2, 4)
    default_size = 3

    @property
    def words(self) -> tuple[str, ...]:
        return (*map(str, range(10)), "=")

    def sample(self, rng: Random) -> tuple[int, ...]:
        return tuple(rng.randint(0, 3) for _ in range(self.size))

    def question(self, instance: tuple[int, ...]) -> Sequence[str]:
        return [str(digit) for digit in instance]

    def reason(self, instance: tuple[int, ...], write: TraceWriter) -> None:
        write("=")
        self.add(instance, write)

    def add(self, digits: tuple[int, ...], write: TraceWriter) -> str:
        with write.call():
            write(*map(str, digits))
            rest = self.add(digits[1:], write) if len(digits) > 1 else "0"
            total = str(int(rest) + digits[0])
            write.answer(total)
        return total

    def answer(self, response: Sequence[str]) -> str | None:
        return response[-2] if len(response) >= 3 else None

    def parse(self, text: str) -> tuple[int, ...]:
        if not all(word.isdigit() for word in split(text)):
            raise ParseError("the sum", text, "digits")
        return tuple(int(word) for word in split(text))


SUMS = [(1, 2, 3), (3, 2, 1), (1, 1, 1), (2, 0, 3)]


@pytest.fixture(scope="session")
def adder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkpoint that has learned a few sums by heart."""
    task = Total(3)
    model = Transformer(ModelConfig(len(task.vocab), n_layers=2, d_model=64, n_heads=2, context=96))
    traces = [task.trace(numbers) for numbers in SUMS]
    ids = [(task.vocab.encode(trace.prompt), task.vocab.encode(trace.generated)) for trace in traces]
    memorise(model, ids, task.vocab.marks)
    directory = tmp_path_factory.mktemp("adder") / "checkpoint"
    save(Checkpoint(model, task.vocab, task.name, (3,)), directory)
    return directory
