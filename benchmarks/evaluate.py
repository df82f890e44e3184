"""Evaluation by a model that ships, its rows dealt out among processes.

    python -m benchmarks.evaluate [--quick] [--json]

The baseline is one process whose operations use all of these threads.
"""

from collections.abc import Iterator

import torch

from benchmarks.common import Row, run
from pencil.evaluate import evaluate
from pencil.model.checkpoint import read
from pencil.model.pretrained import locate
from pencil.tasks import get_task

MODELS = (("qbf", "qbf", 6), ("sat", "sat", 7), ("einstein3", "einstein", 3))


def measure(quick: bool) -> Iterator[Row]:
    """Every row of this benchmark."""
    processes, count = torch.get_num_threads(), 32 if quick else 100
    for model, task, size in MODELS[:1] if quick else MODELS:
        seconds = [seconds_for(model, task, size, count, each) for each in (processes, 1)]
        yield Row.of_seconds(f"{count} of {task} {size}, {processes} processes, seconds", *seconds)


def seconds_for(model: str, task: str, size: int, count: int, processes: int) -> float:
    """How long an evaluation takes, the start of its processes included."""
    checkpoint = read(locate(model))
    asked = (checkpoint.model, checkpoint.vocab, get_task(task, size))
    report, _ = evaluate(*asked, count=count, processes=processes)
    return report.seconds * count


if __name__ == "__main__":
    run(measure, __doc__ or "")
