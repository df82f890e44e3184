"""Measuring a model one instance at a time or many at once, with a limit for each that follows from its own trace.

By default `pencil.evaluate` lets a row go on for twice the reasoner's trace, and beyond the window. A chain of thought
that does not end would then read its whole window again for each of a hundred thousand tokens. Here a model may say a
quarter more than the reasoner does, and one that has filled its window has no answer.
"""

from collections.abc import Callable
from typing import Any, cast

from pencil.evaluate import evaluate
from pencil.evaluate.run import REPEATS, SPARE
from pencil.generate.limits import Limits
from pencil.model.checkpoint import Checkpoint
from pencil.tasks import Format, Task
from pencil.trace import Trace

LONGER = 1.25
"""A model may generate this many times the reasoner's tokens, and a few more."""


def measure(
    checkpoint: Checkpoint,
    task: Task[Any],
    count: int,
    seed: int,
    rows: int = 32,
    most: int | None = None,
    progress: Callable[[int], None] = lambda done: None,
) -> dict[str, Any]:
    """The report of `pencil.evaluate` as plain data, and `each`: whether an instance was right, its seconds, its peak.

    `most` bounds the tokens of any instance.
    """

    def limits(truth: Trace[str]) -> Limits:
        tokens = round(LONGER * len(truth.generated)) + SPARE
        return Limits(tokens=min(tokens, most or tokens), repeats=REPEATS)

    format = cast(Format, checkpoint.format)
    asked = (checkpoint.model, checkpoint.vocab, task, format, count, seed, rows, progress)
    report, outcomes = evaluate(*asked, limits=limits)
    each = [[outcome.verdict == "right", outcome.seconds, outcome.peak] for outcome in outcomes]
    return {**report.as_dict(), "each": each}
