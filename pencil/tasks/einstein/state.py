"""What is still possible: a set of values for each house and category, and how the trace prints it.

Sets are bit masks; bit i is the i-th value of the category in alphabetical order, which is the order of printing.

>>> state = State(Layout.of(3))
>>> state.remove("Green", 0)
>>> state.layout.possibilities(0, state.cells[0][0])
'2 possibilities Blue Red'
"""

from collections.abc import Sequence
from functools import cache

from pencil.tasks.einstein.instance import categories, house
from pencil.tokens import split


class Layout:
    """The tables of one size: where each value belongs, and the words for each set of values."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.categories = categories(size)
        self.everything = (1 << size) - 1
        self.place_of = {
            value: (index, 1 << bit)
            for index, category in enumerate(self.categories)
            for bit, value in enumerate(category.values)
        }
        """Value to its category and its bit there."""
        masks = range(self.everything + 1)
        self._possibilities = [[self._count(index, mask) for mask in masks] for index in range(len(self.categories))]
        self._cell_lines = [
            [split(self._cell(index, mask) + "\n") for mask in masks] for index in range(len(self.categories))
        ]

    @staticmethod
    @cache
    def of(size: int) -> "Layout":
        """The tables of a size, made once."""
        return Layout(size)

    def values(self, category: int, mask: int) -> list[str]:
        """The values in a set, in alphabetical order."""
        return [value for bit, value in enumerate(self.categories[category].values) if mask >> bit & 1]

    def possibilities(self, category: int, mask: int) -> str:
        """A set, as changes and branches print it."""
        return self._possibilities[category][mask]

    def cell_line(self, category: int, mask: int) -> Sequence[str]:
        """The words of a cell in the list of assignments, newline included."""
        return self._cell_lines[category][mask]

    def _count(self, category: int, mask: int) -> str:
        return f"{mask.bit_count()} possibilities {' '.join(self.values(category, mask)) or 'empty'}"

    def _cell(self, category: int, mask: int) -> str:
        values = self.values(category, mask)
        found = f"is {values[0]}" if len(values) == 1 else f"have {self._count(category, mask)}"
        return f"{self.categories[category].name} category {found}"


class State:
    """The possible values of every cell; `cells[category][house]`, both by index."""

    def __init__(self, layout: Layout, cells: list[list[int]] | None = None) -> None:
        self.layout = layout
        self.cells = cells or [[layout.everything] * layout.size for _ in layout.categories]

    def copy(self) -> "State":
        """A state to try something on."""
        return State(self.layout, [list(row) for row in self.cells])

    def can_hold(self, value: str, at: int) -> bool:
        """Whether a value is still possible in a house."""
        category, bit = self.layout.place_of[value]
        return bool(self.cells[category][at] & bit)

    def remove(self, value: str, at: int) -> None:
        """Rule a value out for a house."""
        category, bit = self.layout.place_of[value]
        self.cells[category][at] &= ~bit

    def put(self, value: str, at: int) -> None:
        """Rule everything else out for a house."""
        category, bit = self.layout.place_of[value]
        self.cells[category][at] = bit

    def has_several(self, value: str, at: int) -> bool:
        """Whether a house has more than one possibility in the category of a value."""
        return self.cells[self.layout.place_of[value][0]][at].bit_count() > 1

    def pinned(self, value: str) -> int | None:
        """The house where a value is the only possibility."""
        category, bit = self.layout.place_of[value]
        row = self.cells[category]
        return row.index(bit) if bit in row else None

    def is_impossible(self) -> bool:
        """Whether some house has no possibility left."""
        return any(0 in row for row in self.cells)

    def is_assigned(self) -> bool:
        """Whether every house has exactly one value of each category, and no two the same."""
        # n single bits add up to n ones only if they differ
        return all(
            all(mask.bit_count() == 1 for mask in row) and sum(row) == self.layout.everything for row in self.cells
        )

    def smallest_open_cell(self) -> tuple[int, int] | None:
        """House and category of the first cell with the fewest possibilities above one."""
        counts = [
            (mask.bit_count(), at, category)
            for category, row in enumerate(self.cells)
            for at, mask in enumerate(row)
            if mask.bit_count() > 1
        ]
        return min(counts)[1:] if counts else None

    def words(self) -> list[str]:
        """All houses as the trace lists them, each line with its newline."""
        words: list[str] = []
        for at in range(self.layout.size):
            words += (house(at), "\n")
            for category, row in enumerate(self.cells):
                words += self.layout.cell_line(category, row[at])
        return words
