"""How long traces are: the numbers behind the paper's figure of maximal lengths."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from pencil.tasks.base import Task


@dataclass(frozen=True)
class Spread:
    """The longest and the mean of many lengths."""

    longest: int
    mean: float

    @classmethod
    def of(cls, lengths: Sequence[int]) -> "Spread":
        """Over one or more lengths."""
        return cls(max(lengths), sum(lengths) / len(lengths))


@dataclass(frozen=True)
class Lengths:
    """Trace, peak and reductions over `count` instances of a size."""

    task: str
    size: int
    count: int
    trace: Spread
    peak: Spread
    reductions: Spread

    def as_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        return asdict(self)


def measure_lengths(
    task: Task[Any], count: int, seed: int, progress: Callable[[int], None] = lambda done: None
) -> Lengths:
    """Reason out the first `count` instances of a seed and measure their traces."""
    measured = []
    for index in range(count):
        measured.append(task.trace(task.draw(seed, index)).stats())
        progress(index + 1)
    return Lengths(
        task=task.name,
        size=task.size,
        count=count,
        trace=Spread.of([stats.tokens for stats in measured]),
        peak=Spread.of([stats.peak for stats in measured]),
        reductions=Spread.of([stats.reductions for stats in measured]),
    )
