"""What the first phase of a deduction does next, from what is possible in each house."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from pencil.tasks.einstein.reading import Reader

SIGNS = ("Removing", "Forcing", "Since", "Placing")
"""What a house calls for is in mind by these words: in the first open category, then in the one after it."""


@dataclass(frozen=True)
class FirstPhase:
    """Category by category, it removes values that are certain elsewhere, and forces those possible nowhere else.

    It goes through the certain values house by house and through the forced ones in alphabetical order, and does not
    come back to what has become certain or possible nowhere else behind it.
    """

    reader: Reader
    left: Mapping[str, set[str]]
    """What is possible, by house."""

    @property
    def categories(self) -> Sequence[str]:
        """Those of the clue's values, each once."""
        category_of = self.reader.category_of
        return list(dict.fromkeys(category_of[value] for value in self.reader.between if value in category_of))

    def open_categories(self) -> Sequence[str]:
        """That of the last line, and those after it."""
        last = self._last("Removing") or self._last("Forcing")
        return self.categories[self.categories.index(self.reader.category_of[last[0]]) :] if last else self.categories

    def spreading(self) -> dict[str, set[str]]:
        """By house, the values that it has for certain and that another house is next to lose."""
        certain = {where: self.reader.certain(left) for where, left in self.left.items()}
        removed, forced = self._last("Removing"), self._last("Forcing")
        done = next(((house, removed[1]) for house in certain if removed and removed[0] in certain[house]), ("", ""))
        categories = self.open_categories()
        return {
            house: {
                value
                for value, where in product(certain[house], self.left)
                if where != house and value in self.left[where] and self.reader.category_of[value] in categories
                if not self._same_category(value, forced)  # which comes after all that spreads
                if not self._same_category(value, removed) or (house, where) > done
            }
            for house in self.left
        }

    def rivals(self, where: str, values: set[str]) -> list[str]:
        """The other houses that can hold one of these values."""
        return [house for house, left in self.left.items() if house != where and left & values]

    def only_here(self) -> dict[str, set[str]]:
        """By house, the values that no other house can hold."""
        return {
            where: left.difference(*(values for house, values in self.left.items() if house != where))
            for where, left in self.left.items()
        }

    def forceable(self) -> dict[str, set[str]]:
        """By house, those of them that are next to be put there, since it can still hold others."""
        last = self._last("Forcing")
        categories = self.open_categories()
        return {
            where: {
                value
                for value in values - self.reader.certain(self.left[where])
                if self.reader.category_of[value] in categories
                if last is None or not self._same_category(value, last) or value > last[0]
            }
            for where, values in self.only_here().items()
        }

    def signs(self, forceable: set[str], spreading: set[str]) -> dict[str, bool]:
        """Whether a house calls for removing or forcing values of the first open category, and of the next one."""
        categories, category_of = self.open_categories(), self.reader.category_of
        found = ({category_of[value] for value in values} for values in (spreading, forceable))
        removing, forcing = ([category in some for category in categories] + [False] for some in found)
        return dict(zip(SIGNS, (removing[0], forcing[0], removing[1], forcing[1]), strict=True))

    def _last(self, verb: str) -> tuple[str, str] | None:
        """The value and the house of the last line, if it starts with this word."""
        return (self.reader.line[1], self.reader.line[3]) if self.reader.line[0] == verb else None

    def _same_category(self, value: str, last: tuple[str, str] | None) -> bool:
        return last is not None and self.reader.category_of[value] == self.reader.category_of[last[0]]
