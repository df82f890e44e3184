"""What a run tells while it learns: loss, accuracy by kind of word, speed, time spent waiting for data, time left."""

import re
import time
from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import fmean
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pencil.tokens import Vocab
from pencil.train.batch import Batch

RECENT = 50
"""Steps that the live figures are averaged over."""
SLOW, ENOUGH = 2, 3
"""The first steps, which take longer, and as many more as are needed to guess the time left from."""
WORST = 8
"""Kinds of words that a report names."""


@dataclass(frozen=True)
class StepResult:
    """One step in numbers, over all processes."""

    loss: float
    """Summed over the targets."""
    wrong: int
    targets: int
    packed: int
    """Packed tokens, without padding."""
    seconds: float
    waited: float
    """Seconds of these spent waiting for data."""


@dataclass(frozen=True)
class Report:
    """Where a run stands, averaged over its last few steps."""

    step: int
    steps: int | None
    loss: float
    accuracy: float
    """Share of next tokens that were the likeliest ones."""
    rate: float
    tokens_per_second: float
    data_wait: float
    """Share of the time spent waiting for data."""
    seconds_left: float | None
    """By the mean step, as steps on large problems take longer, but for the very first; None if there are too few."""

    def as_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        return asdict(self)


class Meter:
    """Gathers the results of steps."""

    def __init__(self, vocab: Vocab) -> None:
        words = [kind(word) for word in vocab.words]
        self.kinds = sorted(set(words))
        self._kind_of = np.array([self.kinds.index(word) for word in words])  # id -> kind
        self._recent: deque[StepResult] = deque(maxlen=RECENT)
        self._pace: deque[float] = deque(maxlen=RECENT)  # seconds of the recent steps, but for the first ones
        self._slow = SLOW
        self._asked: Counter[int] = Counter()
        self._wrong: Counter[int] = Counter()

    def add(self, result: StepResult, batches: Sequence[Batch], wrong: Sequence[NDArray[np.bool_]]) -> None:
        """Note a step."""
        self._recent.append(result)
        if self._slow:
            self._slow -= 1
        else:
            self._pace.append(result.seconds)
        for batch, some in zip(batches, wrong, strict=True):
            pairs = self._kind_of[batch.read] * len(self.kinds) + self._kind_of[batch.targets]
            self._asked.update(pairs.tolist())
            self._wrong.update(pairs[some].tolist())

    def report(self, step: int, steps: int | None, rate: float) -> Report:
        """Where the run stands."""
        targets = sum(result.targets for result in self._recent)
        seconds = sum(result.seconds for result in self._recent)
        return Report(
            step=step,
            steps=steps,
            loss=sum(result.loss for result in self._recent) / targets,
            accuracy=1 - sum(result.wrong for result in self._recent) / targets,
            rate=rate,
            tokens_per_second=sum(result.packed for result in self._recent) / seconds,
            data_wait=sum(result.waited for result in self._recent) / seconds,
            seconds_left=self._seconds_left(step, steps),
        )

    def _seconds_left(self, step: int, steps: int | None) -> float | None:
        if step == steps:
            return 0.0
        return None if steps is None or len(self._pace) < ENOUGH else (steps - step) * fmean(self._pace)

    def worst_kinds(self) -> dict[str, float]:
        """The kinds of words with most errors since the last call, each with its share of errors.

        A kind is the word read and the word asked for, with numbers as 0: `= True` is a variable's value, `) True` that
        of a clause.
        """
        shares = {
            f"{self.kinds[pair // len(self.kinds)]} {self.kinds[pair % len(self.kinds)]}": wrong / self._asked[pair]
            for pair, wrong in self._wrong.most_common(WORST)
        }
        self._asked.clear()
        self._wrong.clear()
        return shares


def kind(word: str) -> str:
    """A word with its numbers as 0.

    >>> kind("#12")
    '#0'
    """
    return re.sub("[0-9]+", "0", word)


class Stopwatch:
    """Seconds since it was last read."""

    def __init__(self) -> None:
        self._last = time.perf_counter()

    def lap(self) -> float:
        """Read and start again."""
        last, self._last = self._last, time.perf_counter()
        return self._last - last
