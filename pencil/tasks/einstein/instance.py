"""Puzzles: houses in a row, categories of values, and clues that tie values together.

>>> Clue("Green", Relation.RIGHT, "Birds").holds({"Green": 2, "Birds": 1})
True
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

SIZES = range(3, 6)


@dataclass(frozen=True)
class Category:
    """One kind of attribute; every house has a different value of it."""

    name: str
    phrase: str
    """How a clue speaks of a value."""
    values: tuple[str, ...]
    smallest: int = 3
    """The smallest puzzle that has this category."""


CATEGORIES = (
    Category("Color", "the {} house", ("Red", "Green", "Blue", "Yellow", "White")),
    Category("Nationality", "the {}", ("Brit", "Swede", "German", "Dane", "Norwegian")),
    Category("Beverage", "the one who drinks {}", ("Tea", "Coffee", "Milk", "Beer", "Water"), smallest=4),
    Category(
        "Cigarette brand",
        "the one who smokes {}",
        ("Pall Mall", "Dunhill", "Blend", "Blue Master", "Prince"),
        smallest=5,
    ),
    Category("Pet", "the one who keeps {}", ("Dogs", "Birds", "Fish", "Cats", "Horses")),
)
NATIONALITIES = CATEGORIES[1].values
"""Who may own the Fish; a smaller puzzle has the first of them."""


def categories(size: int) -> tuple[Category, ...]:
    """The categories of a size; each has as many values as there are houses, in alphabetical order.

    >>> [(category.name, category.values) for category in categories(3)][:2]
    [('Color', ('Blue', 'Green', 'Red')), ('Nationality', ('Brit', 'German', 'Swede'))]
    """
    return tuple(
        Category(category.name, category.phrase, tuple(sorted(category.values[:size])), category.smallest)
        for category in CATEGORIES
        if category.smallest <= size
    )


class Relation(StrEnum):
    """What a clue says: the first three are the paper's, the others are for the original riddle."""

    SAME = "SAME"
    LEFT = "LEFT"
    RIGHT = "RIGHT"
    NEXT = "NEXT"
    POSITION = "POSITION"


OFFSETS = {Relation.SAME: (0,), Relation.LEFT: (-1,), Relation.RIGHT: (1,), Relation.NEXT: (-1, 1)}
"""Where the first value of a clue may stand, seen from the second."""


@dataclass(frozen=True)
class Clue:
    """`first` stands in this relation to `second`: another value, or for a position a house such as `House#1`."""

    first: str
    relation: Relation
    second: str

    def holds(self, house_of: Mapping[str, int]) -> bool:
        """Whether the clue is true when each value stands in its house."""
        if self.relation is Relation.POSITION:
            return house_of[self.first] == house_index(self.second)
        return house_of[self.first] - house_of[self.second] in OFFSETS[self.relation]


@dataclass(frozen=True)
class Puzzle:
    """As many houses as values of a category, and what is known about them."""

    size: int
    clues: tuple[Clue, ...]


def house(index: int) -> str:
    """The word for a house; indices count from 0, words from 1.

    >>> house(0)
    'House#1'
    """
    return f"House#{index + 1}"


def house_index(word: str) -> int:
    """The inverse of `house`."""
    return int(word.removeprefix("House#")) - 1


def constraint(index: int) -> str:
    """The word for a clue; indices count from 0, words from 1."""
    return f"Constraint#{index + 1}"
