"""A training step, packed: against the padded way of the paper's code, a plain dense step, and itself done otherwise.

    python -m benchmarks.train [--quick] [--json]

Padded: each x^(i) is a sequence of its own, a few at a time are padded to the longest of them; the same instance, the
same loss, which is checked. Dense: as many tokens in plain causal rows as long as the trace's peak. Bfloat16: what
`pencil train --bf16` does, on a CPU that has products in it. Torch alone: what `--no-native` does, and so do the padded
and the dense side. The instance is the first of seed 0 with a trace that is not too long. The model is the paper's of
10.63M parameters, with random weights; --quick takes a tiny one, at which attention weighs more.
"""

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import count

import torch
from torch import Tensor
from torch.nn import functional as F

from benchmarks.common import Row, run
from pencil.model.presets import preset
from pencil.model.transformer import Transformer
from pencil.tasks import get_task
from pencil.trace import Trace
from pencil.train.batch import Batch, make_batch
from pencil.train.bf16 import has_bf16, in_bf16
from pencil.train.loss import Loss, PackedLoss
from pencil.train.memory import keep_freed_memory
from pencil.train.pack import pack

CASES = (("sat", 10), ("qbf", 8), ("einstein", 5))
LONGEST = 10_000
"""Generated tokens of an instance, so that the padded step takes two minutes at most."""
PADDED_TOKENS = 8_192
"""Tokens, with padding, that the padded step takes at a time; it adds up their gradients."""
REPEATS = 3
"""Of the packed and the dense step, in turns; the fastest counts. The padded one is long enough to be done once."""

Losses = Iterable[Tensor]
"""The parts of a step's loss, each computed when it is asked for, so that memory is bounded."""


@dataclass(frozen=True)
class Case:
    """An instance's trace, and a model for it."""

    name: str
    model: Transformer
    trace: Trace[int]


def measure(quick: bool) -> Iterator[Row]:
    """Every row of this benchmark."""
    keep_freed_memory()
    for name, size in CASES:
        yield from compare(make_case(name, size, quick))


def make_case(name: str, size: int, quick: bool) -> Case:
    """The first instance that is not too long."""
    task = get_task(name, size)
    traces = (task.trace(task.draw(0, index)) for index in count())
    words = next(trace for trace in traces if len(trace.generated) <= LONGEST)
    encode = task.vocab.encode
    trace = Trace(tuple(encode(words.prompt)), tuple(encode(words.generated)), task.vocab.marks)
    config = preset("nano" if quick else "paper-10m", len(task.vocab), context=trace.stats().peak)
    return Case(f"{name} {size}", Transformer(config), trace)


def compare(case: Case) -> Iterator[Row]:
    """All rows of a case; packing itself happens in workers, and is not counted."""
    batch = make_batch([pack(case.trace.prompt, case.trace.generated, case.trace.marks)])
    packed_loss, by_torch = PackedLoss(case.model, native=True), PackedLoss(case.model, native=False)
    rows = dense_rows(case, batch.packed)
    steps: dict[str, Callable[[], Losses]] = {
        "packed": lambda: [packed_loss(batch).total / len(batch.targets)],
        "torch": lambda: [by_torch(batch).total / len(batch.targets)],
        "dense": lambda: [F.cross_entropy(case.model(rows[:, :-1]).flatten(0, 1), rows[:, 1:].flatten())],
    }
    if has_bf16():
        steps["bf16"] = lambda: [loss_in_bf16(packed_loss, batch).total / len(batch.targets)]
    turns = [{name: timed(case, step) for name, step in steps.items()} for _ in range(REPEATS)]
    fastest = {name: min((turn[name] for turn in turns), key=lambda timed: timed[1]) for name in steps}
    (loss, seconds), (torch_loss, torch_seconds) = fastest["packed"], fastest["torch"]
    dense_seconds = fastest["dense"][1]
    rate, dense_rate = batch.packed / seconds, rows[:, 1:].numel() / dense_seconds
    yield Row.of_rates(f"{case.name}, packed tokens a second against dense", rate, dense_rate)
    assert abs(torch_loss - loss) < 1e-3 * loss, (torch_loss, loss)
    yield Row.of_seconds(f"{case.name}, seconds a step against torch alone", seconds, torch_seconds)
    if "bf16" in fastest:
        bf16_loss, bf16_seconds = fastest["bf16"]
        assert abs(bf16_loss - loss) < 1e-2 * loss, (bf16_loss, loss)
        losses = f"loss {bf16_loss:.4f} and {loss:.4f}"
        yield Row.of_seconds(
            f"{case.name}, seconds a step in bfloat16 against float32, {losses}", bf16_seconds, seconds
        )
    padded_loss, padded_seconds = timed(case, lambda: padded_losses(case))
    assert abs(loss - padded_loss) < 1e-3 * padded_loss, (loss, padded_loss)
    losses = f"loss {loss:.4f} and {padded_loss:.4f}"
    yield Row.of_seconds(f"{case.name}, seconds a step against padded, {losses}", seconds, padded_seconds)


def loss_in_bf16(loss: PackedLoss, batch: Batch) -> Loss:
    """The loss, its products in bfloat16."""
    with in_bf16("cpu"):
        found: Loss = loss(batch)
    return found


def dense_rows(case: Case, tokens: int) -> Tensor:
    """(B, T + 1): random words, at least as many as the packed step reads."""
    length = case.model.context
    return torch.randint(0, case.model.config.vocab_size, (-(-tokens // length), length + 1))


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


def timed(case: Case, losses: Callable[[], Losses]) -> tuple[float, float]:
    """The summed loss, and the seconds to compute it and its gradient."""
    case.model.zero_grad()
    start, total = time.perf_counter(), 0.0
    for loss in losses():
        loss.backward()  # type: ignore[no-untyped-call]
        total += loss.item()
    return total, time.perf_counter() - start


if __name__ == "__main__":
    run(measure, __doc__ or "")
