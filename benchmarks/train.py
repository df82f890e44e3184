"""A training step, packed: against the padded way of the paper's code, and against a plain dense step.

    python -m benchmarks.train [--quick] [--json]

Padded: each x^(i) is a sequence of its own, a few at a time are padded to the longest of them; the same instance, the
same loss, which is checked. Dense: as many tokens in plain causal rows as long as the trace's peak. The instance is the
first of seed 0. The model is the paper's of 10.63M parameters, with random weights; --quick takes a tiny one, at which
attention weighs more.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F

from benchmarks.common import Row, run
from pencil.model.presets import preset
from pencil.model.transformer import Transformer
from pencil.tasks import get_task
from pencil.trace import Trace
from pencil.train.batch import make_batch
from pencil.train.loss import PackedLoss
from pencil.train.pack import pack

CASES = (("sat", 10), ("qbf", 8), ("einstein", 5))
PADDED_TOKENS = 8_192
"""Tokens, with padding, that the padded step takes at a time; it adds up their gradients."""


@dataclass(frozen=True)
class Case:
    """An instance's trace, and a model for it."""

    name: str
    model: Transformer
    trace: Trace[int]
    repeats: int


def measure(quick: bool) -> Iterator[Row]:
    """Every row of this benchmark."""
    for name, size in CASES:
        case = make_case(name, size, quick)
        loss, seconds, tokens = packed_step(case)
        padded_loss, padded_seconds = timed(case, lambda case=case: padded_losses(case))  # type: ignore[misc]
        assert abs(loss - padded_loss) < 1e-3 * padded_loss, (loss, padded_loss)
        losses = f"loss {loss:.4f} and {padded_loss:.4f}"
        yield Row.of_seconds(f"{case.name}, seconds a step against padded, {losses}", seconds, padded_seconds)
        dense_tokens, dense_seconds = dense_step(case, tokens)
        rate, dense_rate = tokens / seconds, dense_tokens / dense_seconds
        yield Row.of_rates(f"{case.name}, packed tokens a second against dense", rate, dense_rate)


def make_case(name: str, size: int, quick: bool) -> Case:
    """The trace of the first instance."""
    task = get_task(name, size)
    words = task.trace(task.draw(seed=0))
    encode = task.vocab.encode
    trace = Trace(tuple(encode(words.prompt)), tuple(encode(words.generated)), task.vocab.marks)
    config = preset("nano" if quick else "paper-10m", len(task.vocab), context=trace.stats().peak)
    return Case(f"{name} {size}", Transformer(config), trace, repeats=2)


def packed_step(case: Case) -> tuple[float, float, int]:
    """Mean loss, seconds and packed tokens of a step; packing itself happens in workers, and is not counted."""
    batch = make_batch([pack(case.trace.prompt, case.trace.generated, case.trace.marks)])
    loss = PackedLoss(case.model)
    mean, seconds = timed(case, lambda: iter([loss(batch).total / len(batch.targets)]))
    return mean, seconds, batch.packed


def padded_losses(case: Case) -> Iterator[Tensor]:
    """The loss in parts, each of a few segments, padded to the longest of them."""
    segments = list(case.trace.segments())
    at_once = max(1, PADDED_TOKENS // case.model.context)
    for first in range(0, len(segments), at_once):
        some = segments[first : first + at_once]
        longest = max(len(segment.tokens) for segment in some)
        tokens, targets = torch.zeros(2, len(some), longest, dtype=torch.long)
        targets[:] = -100
        for row, segment in enumerate(some):
            tokens[row, : len(segment.tokens)] = torch.tensor(segment.tokens)
            targets[row, segment.start : len(segment.tokens)] = torch.tensor(segment.generated)
        logits = case.model(tokens[:, :-1]).flatten(0, 1)
        total = F.cross_entropy(logits, targets[:, 1:].flatten(), ignore_index=-100, reduction="sum")
        yield total / len(case.trace.generated)


def dense_step(case: Case, tokens: int) -> tuple[int, float]:
    """Tokens and seconds of a plain step on at least as many tokens as the packed one reads."""
    length = case.model.context
    rows = torch.randint(0, case.model.config.vocab_size, (-(-tokens // length), length + 1))

    def loss() -> Iterator[Tensor]:
        yield F.cross_entropy(case.model(rows[:, :-1]).flatten(0, 1), rows[:, 1:].flatten())

    return rows[:, 1:].numel(), timed(case, loss)[1]


def timed(case: Case, losses: Callable[[], Iterator[Tensor]]) -> tuple[float, float]:
    """The summed loss, and the fastest time to compute it and its gradient."""
    times, total = [], 0.0
    for _ in range(case.repeats):
        case.model.zero_grad()
        start, total = time.perf_counter(), 0.0
        for loss in losses():
            loss.backward()  # type: ignore[no-untyped-call]
            total += loss.item()
        times.append(time.perf_counter() - start)
    return total, min(times)


if __name__ == "__main__":
    run(measure, __doc__ or "")
