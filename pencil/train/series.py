"""Which instances each step learns from: the next ones of the series, and again some that had a wrong word before.

What is rare comes up too seldom to be learned. So an instance that was nearly right comes again a while later, in place
of a new one, until it is right or has come often enough. What a step learns from follows from what was wrong `LATER`
steps before it, so it can be made ahead of time, and a resumed run goes on with the same.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pencil.train.config import DataConfig
from pencil.train.pack import Ints

LATER = 64
"""Steps after which an instance comes again."""
MOST = 4
"""How often an instance is learned from at the most."""
NEARLY = 0.005
"""The share of an instance's words that may be wrong; where there are more, new ones teach as much."""

Returning = dict[int, list[tuple[int, int]]]
"""For a step, the instances that were nearly right, and how often each was learned from by then."""


class Series:
    """The instances of every step, up to `LATER` steps ahead of what was noted last."""

    def __init__(self, config: DataConfig) -> None:
        self.batch, self.again = config.batch, config.again
        self.returning: Returning = {}

    def instances(self, step: int) -> list[int]:
        """The numbers of a step's instances, over all processes."""
        return [instance for instance, _ in self._chosen(step)]

    def note(self, step: int, nearly_right: Sequence[float]) -> None:
        """Which of a step's instances were nearly right, in their order."""
        if self.again:
            chosen = zip(self._chosen(step), nearly_right, strict=True)
            self.returning[step] = [entry for entry, nearly in chosen if nearly and entry[1] < MOST]
            self.returning.pop(step - LATER, None)

    def _chosen(self, step: int) -> list[tuple[int, int]]:
        """Instances, each with how often it was learned from after this step; those seen least often come again."""
        wrong = self.returning[step - LATER] if self.again and step >= LATER else []
        seldom = sorted(wrong, key=lambda entry: entry[1])[: self.again]
        new = range(step * self.batch, (step + 1) * self.batch - len(seldom))
        return [*((instance, 1) for instance in new), *((instance, times + 1) for instance, times in seldom)]


def nearly_right(instances: Ints, wrong: NDArray[np.bool_], count: int) -> list[bool]:
    """Whether an instance has a few words that are wrong, given for each word its instance.

    >>> nearly_right(np.array([0] * 200 + [1] * 200 + [2, 2]), np.arange(402) % 200 == 0, count=4)
    [True, True, False, False]
    """
    errors = np.bincount(instances[wrong], minlength=count)
    most = NEARLY * np.bincount(instances, minlength=count)
    return [0 < error <= allowed for error, allowed in zip(errors.tolist(), most.tolist(), strict=True)]
