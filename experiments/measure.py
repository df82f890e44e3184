"""Measuring a model one instance at a time or many at once, with a limit for each that follows from its own trace.

`pencil.evaluate` lets every row go on for twice the longest trace, and beyond the window. A chain of thought that does
not end would then read its whole window again for each of a hundred thousand tokens. Here a model may say a quarter
more than the reasoner does, and one that has filled its window has no answer.
"""

import time
from collections.abc import Callable
from typing import Any, cast

from pencil.evaluate import Outcome, held_out_instances, summarise
from pencil.generate.engine import Engine
from pencil.generate.events import Stopped, Token
from pencil.generate.limits import Limits
from pencil.model.checkpoint import Checkpoint
from pencil.tasks import Format, Task
from pencil.trace import Trace

LONGER = 1.25
SPARE = 64
"""A model may generate this many times the reasoner's tokens, and a few more."""
REPEATS = 32
"""Copies of a stretch that count as a loop."""


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
    instances = held_out_instances(task, count, seed)
    truths = [task.trace(instance, cast(Format, checkpoint.format)) for instance in instances]
    start = time.perf_counter()
    stops, said = _generate(checkpoint, truths, rows, most, progress)
    seconds = time.perf_counter() - start
    outcomes = [
        _outcome(task, task.solve(instance), truth, checkpoint.vocab.decode(tokens), stop)
        for instance, truth, tokens, stop in zip(instances, truths, said, stops, strict=True)
    ]
    report = summarise(task.name, task.size, checkpoint.format, outcomes, seconds)
    each = [
        [outcome.verdict == "right", stop.seconds, stop.peak] for outcome, stop in zip(outcomes, stops, strict=True)
    ]
    return {**report.as_dict(), "each": each}


def _generate(
    checkpoint: Checkpoint, truths: list[Trace[str]], rows: int, most: int | None, progress: Callable[[int], None]
) -> tuple[list[Stopped], list[list[int]]]:
    """How each row stopped, and all that it said."""
    vocab = checkpoint.vocab
    marks = vocab.marks if checkpoint.format == "pencil" else None
    engine = Engine(checkpoint.model, marks, end=vocab.end, rows=rows)
    for truth in truths:
        tokens = round(LONGER * len(truth.generated)) + SPARE
        limits = Limits(tokens=min(tokens, most or tokens), repeats=REPEATS)
        engine.submit(vocab.encode(truth.prompt), limits=limits)
    stops: dict[int, Stopped] = {}
    said: list[list[int]] = [[] for _ in truths]
    while not engine.idle:
        for row, event in engine.step():
            if isinstance(event, Token):
                said[row].append(event.id)
            elif isinstance(event, Stopped):
                stops[row] = event
                progress(len(stops))
    return [stops[row] for row in range(len(truths))], said


def _outcome(task: Task[Any], expected: str, truth: Trace[str], words: list[str], stop: Stopped) -> Outcome:
    return Outcome(
        prompt=truth.prompt,
        truth=truth.generated,
        generated=tuple(words),
        expected=expected,
        answer=task.answer(Trace(truth.prompt, tuple(words)).final),
        stop=stop.reason,
        peak=stop.peak,
        reductions=stop.reductions,
    )
