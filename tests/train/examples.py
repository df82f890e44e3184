"""Traces that the tests of training share: of real tasks, and made by hand where a task never goes."""

from typing import Any

from pencil.model.transformer import ModelConfig
from pencil.tasks import get_task
from pencil.tokens import Marks
from pencil.trace import Trace
from pencil.train.config import DataConfig, Recipe, TrainConfig

MARKS = Marks(call=0, sep=1, ret=2)
TASKS = (("qbf", 2), ("qbf", 4), ("sat", 3), ("einstein", 3))
BY_HAND = {
    "no reduction": Trace((9,), (5, 6, 7), MARKS),
    "one call": Trace((9,), (0, 5, 1, 7, 2, 8), MARKS),
    "nested calls": Trace((9, 8), (0, 5, 0, 6, 1, 7, 2, 1, 6, 5, 2, 8), MARKS),
    "an empty answer": Trace((9, 8), (0, 5, 1, 2, 0, 6, 1, 2, 8), MARKS),
    "tail recursion": Trace((9,), (0, 5, 1, 0, 6, 2, 7, 1, 0, 8, 2, 1, 5, 2, 4), MARKS),
    "an unmatched return": Trace((9,), (5, 2, 0, 4, 1, 6, 2, 2, 7), MARKS),
    "ends with a reduction": Trace((9,), (0, 5, 1, 7, 8, 2), MARKS),
}


def task_trace(name: str, size: int, index: int = 0) -> Trace[int]:
    """The trace of a random instance, as ids."""
    task = get_task(name, size)
    trace = task.trace(task.draw(7, index))
    encode = task.vocab.encode
    return Trace(tuple(encode(trace.prompt)), tuple(encode(trace.generated)), task.vocab.marks)


def all_traces() -> dict[str, Trace[int]]:
    """By hand, and of tasks."""
    tasks = {f"{name} {size}": task_trace(name, size) for name, size in TASKS}
    return BY_HAND | tasks


def small_recipe(steps: int = 6, **train: Any) -> Recipe:
    """A run of seconds."""
    words = len(get_task("qbf", 2).vocab)
    return Recipe(
        DataConfig("qbf", {2: 1.0}, batch=2, window=512),
        ModelConfig(words, n_layers=1, d_model=16, n_heads=2, context=512),
        TrainConfig(steps=steps, warmup=2, learning_rate=0.01, **train),
    )
