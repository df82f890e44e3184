"""Attention heads answered from running state instead of a scan over the context.

A head is told of each position's key and value, and asked with a query. What it must remember depends on the query:

- `Best`, the query never changes: the best score so far and its values. Uniform averages, running maxima, "the last
  position where ..." are of this kind; O(1).
- `Match`, one integer of the query changes: the score is a line q*a + b for each position, and a position whose line is
  nearest to its own parabola at q wins. Tape cells found by their number are of this kind; O(1) where the key exists.
- `Grouped`, anything else: positions with equal keys are kept together; O(number of different keys).

All numbers are exact: Python's integers, and fractions where an average needs them.
"""

from collections.abc import Sequence
from fractions import Fraction
from operator import add, mul
from typing import Any, Protocol

Number = int | Fraction
Vector = tuple[Number, ...]


class RunningHead(Protocol):
    """The memory of one head."""

    def add(self, key: Any, value: Vector, position: int) -> None:
        """Tell of a position, the first of which is 1."""

    def read(self, query: Any) -> Vector:
        """The mean value where the score is highest."""

    def read_total(self, query: Any) -> Vector:
        """The sum of the values where the score is highest."""

    def clear(self) -> None:
        """Forget all positions."""


class Best:
    """For a query that never changes: the key is the score itself, and the query is not looked at."""

    def __init__(self, *, rightmost: bool) -> None:
        self.rightmost = rightmost
        self.clear()

    def clear(self) -> None:
        """Forget all positions."""
        self.best: Number | None = None
        self.total: Vector = ()
        """The sum of the values that tie."""
        self.count = 0

    def add(self, key: Number, value: Vector, position: int) -> None:
        """Keep the value if its score is as good as the best."""
        best = self.best
        if best is None or key > best:
            self.best, self.total, self.count = key, value, 1
        elif key == best:
            if self.rightmost:
                self.total = value
            else:
                self.total = tuple(map(add, self.total, value))
                self.count += 1

    def read(self, query: None) -> Vector:
        """The mean of what ties."""
        return self.total if self.count == 1 else mean(self.total, self.count)

    def read_total(self, query: None) -> Vector:
        """The sum of what ties."""
        return self.total


class Match:
    """For one changing integer q: the last position where q*a + b is highest; the key is (a, b), all integers.

    4(q*a + b) = 4q^2 - (2q - a)^2 - gap, where gap = -4b - a^2 belongs to the position alone. So the smallest gap with
    a = 2q cannot be beaten, and otherwise the best is near.
    """

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Forget all positions."""
        self.entries: dict[int, tuple[int, int, Vector]] = {}
        """By a: the smallest gap, the last position that has it, and its value."""
        self.least = 0

    def add(self, key: tuple[int, int], value: Vector, position: int) -> None:
        """Of positions with equal a, keep the last with the smallest gap."""
        slope, offset = key
        gap = -4 * offset - slope * slope
        entries = self.entries
        if gap < self.least or not entries:
            self.least = gap
        if slope not in entries or gap <= entries[slope][0]:
            entries[slope] = (gap, position, value)

    def read(self, query: int) -> Vector:
        """The value at the exact key if nothing can beat it, else at the best one."""
        found = self.entries.get(2 * query)
        return found[2] if found is not None and found[0] == self.least else self._search(2 * query)

    read_total = read  # never more than one position

    def _search(self, centre: int) -> Vector:
        """Look at slopes ever farther from 2q, until none farther can win; the smallest gap + distance^2 wins."""
        entries, distance = self.entries, 0
        best: tuple[int, int, Vector] | None = None
        while best is None or best[0] >= distance * distance + self.least:
            if distance > len(entries):  # far from everything: look at all of it
                return min((gap + (centre - a) ** 2, -place, value) for a, (gap, place, value) in entries.items())[2]
            for slope in {centre - distance, centre + distance} & entries.keys():
                gap, place, value = entries[slope]
                candidate = (gap + distance * distance, -place, value)
                best = candidate if best is None else min(best, candidate)
            distance += 1
        return best[2]


class Grouped:
    """For any query: one entry for each different key."""

    def __init__(self, *, rightmost: bool) -> None:
        self.rightmost = rightmost
        self.clear()

    def clear(self) -> None:
        """Forget all positions."""
        self.groups: dict[Vector, tuple[int, Vector, int]] = {}
        """By key: the last position, the sum of the values and their number; or only the last one's."""

    def add(self, key: Vector, value: Vector, position: int) -> None:
        """Add to the group of a key."""
        old = None if self.rightmost else self.groups.get(key)
        if old is None:
            self.groups[key] = (position, value, 1)
        else:
            self.groups[key] = (position, tuple(map(add, old[1], value)), old[2] + 1)

    def read(self, query: Vector) -> Vector:
        """The mean over all groups that tie, or the last one."""
        return mean(*self._tied(query))

    def read_total(self, query: Vector) -> Vector:
        """The sum over all groups that tie, or the last one."""
        return self._tied(query)[0]

    def _tied(self, query: Vector) -> tuple[Vector, int]:
        """The sum and the number of the values whose score is highest."""
        scores = {key: sum(map(mul, query, key)) for key in self.groups}
        best = max(scores.values())
        tied = [self.groups[key] for key, score in scores.items() if score == best]
        if self.rightmost:
            tied = [max(tied)]  # positions differ, so nothing else is compared
        total = tuple(map(sum, zip(*(values for _, values, _ in tied), strict=True)))
        return total, sum(count for *_, count in tied)


def mean(total: Sequence[Number], count: int) -> Vector:
    """Each sum divided by the count, as an integer where it is one."""
    return tuple(_divide(entry, count) for entry in total)


def _divide(total: Number, count: int) -> Number:
    quotient, rest = divmod(total, count)
    return quotient if not rest else Fraction(total) / count
