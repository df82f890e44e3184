"""Running a model on held-out instances."""

import time
from collections import Counter
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from pencil.errors import PencilError
from pencil.evaluate.metrics import Outcome, Report, summarise
from pencil.evaluate.processes import Rows, can_be_dealt_out
from pencil.generate.events import Stopped
from pencil.generate.limits import Limits
from pencil.model.protocol import Model
from pencil.tasks import Format, Task
from pencil.tokens import Vocab
from pencil.trace import Trace
from pencil.train.split import draw

CLASSES_SEEN_IN = 32
"""Instances from which the number of different answers is read off."""
PATIENCE = 16
"""After this many draws for each instance wanted, the balance of the answers is given up."""
LONGER, SPARE = 2, 64
"""A model may generate this many times the reasoner's tokens, and a few more."""
REPEATS = 32
"""Copies of a stretch that count as a loop; a deep recursion ends with as many equal answers as it has calls."""


def held_out_instances(task: Task[Any], count: int, seed: int) -> list[Any]:
    """Instances that are never trained on, their answers balanced; the same for the same seed."""
    rng = Random(f"held-out {task.name} {task.size} {seed}")
    drawn = [draw(task, rng, held_out=True) for _ in range(min(CLASSES_SEEN_IN, count))]
    classes = len({task.solve(instance) for instance in drawn})
    chosen: list[Any] = []
    answers: Counter[str] = Counter()
    draws = 0
    while len(chosen) < count:
        instance = drawn[draws] if draws < len(drawn) else draw(task, rng, held_out=True)
        draws += 1
        answer = task.solve(instance)
        if answers[answer] * classes < count or draws > PATIENCE * count:
            chosen.append(instance)
            answers[answer] += 1
    return chosen


def evaluate(
    model: Model,
    vocab: Vocab,
    task: Task[Any],
    format: Format = "pencil",
    count: int = 100,
    seed: int = 0,
    rows: int = 64,
    progress: Callable[[int], None] = lambda done: None,
    *,
    limits: Callable[[Trace[str]], Limits] | None = None,
    processes: int = 1,
) -> tuple[Report, list[Outcome]]:
    """Let a model answer held-out instances, many at once; calls back with the number of instances done.

    `limits` says when to stop a row, by the reasoner's trace; by default it may go on for twice as long.
    `processes` share the rows of a transformer on a CPU.
    """
    _require_words(vocab, task)
    instances = held_out_instances(task, count, seed)
    truths = [task.trace(instance, format) for instance in instances]
    own = list(map(limits or _usual_limits(truths, format, model.context), truths))
    prompts, marks = [vocab.encode(truth.prompt) for truth in truths], vocab.marks if format == "pencil" else None
    asked = Rows(prompts, own, marks, vocab.end, rows)
    start = time.perf_counter()
    if processes > 1 and can_be_dealt_out(model):
        said = asked.run_in_processes(model, progress, processes)
    else:
        said = asked.run(model, progress)
    seconds = time.perf_counter() - start
    outcomes = [
        _outcome(task, task.solve(instance), truth, vocab.decode(tokens), stop)
        for instance, truth, (stop, tokens) in zip(instances, truths, said, strict=True)
    ]
    return summarise(task.name, task.size, format, outcomes, seconds), outcomes


def _usual_limits(truths: Sequence[Trace[str]], format: Format, window: int) -> Callable[[Trace[str]], Limits]:
    """Twice a row's own trace; a window that does not hold every trace moves along."""
    fits = all(longest_sequence(truth, format) <= window for truth in truths)

    def limits(truth: Trace[str]) -> Limits:
        tokens = LONGER * len(truth.generated) + SPARE
        return Limits(tokens=tokens, repeats=REPEATS, overflow="stop" if fits else "truncate")

    return limits


def longest_sequence(truth: Trace[str], format: Format) -> int:
    """The longest sequence that a model has before it on the way to the answer."""
    stats = truth.stats()
    return stats.peak if format == "pencil" else stats.tokens


def _outcome(task: Task[Any], expected: str, truth: Trace[str], words: list[str], stop: Stopped) -> Outcome:
    said = Trace(truth.prompt, tuple(words))
    return Outcome(
        prompt=truth.prompt,
        truth=truth.generated,
        generated=said.generated,
        expected=expected,
        answer=task.answer(said.final),
        stop=stop.reason,
        peak=stop.peak,
        reductions=stop.reductions,
        seconds=stop.seconds,
    )


def _require_words(vocab: Vocab, task: Task[Any]) -> None:
    missing = next((word for word in task.words if word not in vocab), None)
    if missing is not None:
        raise PencilError(
            f"the model has no word {missing!r}, which {task.name} of size {task.size} needs; try smaller"
        )
