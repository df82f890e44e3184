"""A fast solver that writes nothing: it finds solutions, for making puzzles and checking answers.

Here each value has the set of houses where it may stand, as bits: the other way round from the reasoner.

>>> from pencil.tasks.einstein.instance import Clue, Relation
>>> solver = Solver(3, [Clue("Red", Relation.SAME, "Brit")])
>>> len(list(solver.solutions()))
72
>>> next(solver.solutions(breaking=Clue("Red", Relation.SAME, "Brit")), "none")
'none'
"""

from collections.abc import Iterable, Iterator

from pencil.tasks.einstein.instance import OFFSETS, Clue, Relation, categories, house_index

Solution = dict[str, int]
"""Value to the index of its house."""


class Solver:
    """Clues, which may grow in number, and the search for what they allow."""

    def __init__(self, size: int, clues: Iterable[Clue] = ()) -> None:
        self.size = size
        self._values = [value for category in categories(size) for value in category.values]
        self._number = {value: index for index, value in enumerate(self._values)}
        self._groups = [range(start, start + size) for start in range(0, len(self._values), size)]
        self._houses = [(1 << size) - 1] * len(self._values)
        self._links: list[tuple[int, Relation, int]] = []
        for clue in clues:
            self._link(clue)
        self._narrow(self._houses)

    def add(self, clue: Clue) -> None:
        """Demand one clue more."""
        self._link(clue)
        self._narrow(self._houses)

    def solutions(self, breaking: Clue | None = None) -> Iterator[Solution]:
        """Every way to fill the houses that obeys all clues, and breaks one where asked."""
        for start in [self._houses] if breaking is None else self._starts_that_break(breaking):
            for found in self._search(list(start)):
                yield {value: mask.bit_length() - 1 for value, mask in zip(self._values, found, strict=True)}

    def _link(self, clue: Clue) -> None:
        first = self._number[clue.first]
        if clue.relation is Relation.POSITION:
            self._houses[first] &= 1 << house_index(clue.second)
        elif clue.relation is Relation.LEFT:
            self._links.append((self._number[clue.second], Relation.RIGHT, first))
        else:
            self._links.append((first, clue.relation, self._number[clue.second]))

    def _starts_that_break(self, clue: Clue) -> Iterator[list[int]]:
        """The first value in each house in turn, the second wherever the clue would not have it."""
        first = self._number[clue.first]
        for at in range(self.size):
            start = list(self._houses)
            start[first] &= 1 << at
            if clue.relation is Relation.POSITION:
                start[first] &= ~(1 << house_index(clue.second))
            else:
                allowed = sum(1 << at - offset for offset in OFFSETS[clue.relation] if at >= offset)
                start[self._number[clue.second]] &= ~allowed
            yield start

    def _search(self, houses: list[int]) -> Iterator[list[int]]:
        """Narrow, then try each house of the value that has the fewest left."""
        if not self._narrow(houses):
            return
        open_values = [(mask.bit_count(), value) for value, mask in enumerate(houses) if mask & (mask - 1)]
        if not open_values:
            yield houses
            return
        _, value = min(open_values)
        for at in range(self.size):
            if houses[value] >> at & 1:
                attempt = list(houses)
                attempt[value] = 1 << at
                yield from self._search(attempt)

    def _narrow(self, houses: list[int]) -> bool:
        """Rule houses out until nothing changes; False when a value has none left."""
        before: list[int] = []
        while houses != before:
            before = list(houses)
            for first, relation, second in self._links:
                a, b = houses[first], houses[second]
                if relation is Relation.SAME:
                    a = b = a & b
                elif relation is Relation.RIGHT:
                    a, b = a & b << 1, b & a >> 1
                else:
                    a, b = a & (b << 1 | b >> 1), b & (a << 1 | a >> 1)
                houses[first], houses[second] = a, b
            for group in self._groups:
                _keep_apart(houses, group)
            if 0 in houses:
                return False
        return True


def _keep_apart(houses: list[int], group: range) -> None:
    """No two values of a category share a house, and each house has one."""
    once = twice = 0
    for value in group:
        twice |= once & houses[value]
        once |= houses[value]
    for value in group:
        mask = houses[value] & ~twice or houses[value]  # a house that only this value can take is its own
        if mask & (mask - 1) == 0:
            for other in group:
                houses[other] &= ~mask
        houses[value] = mask
