"""Reads the trace of a puzzle word by word: what its live lines rule out, which clues are open, and where it stands."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import NamedTuple

from pencil.tasks.einstein.instance import house
from pencil.tasks.einstein.state import Layout
from pencil.tokens import CALL, PROMPT_END, RETURN, SEP, START

RELATIONS = ("same", "left", "right", "next")
SKIPPED = {"Solution": 1, "Applying": 2}
"""How many words an answer was written behind, by the first of them."""


class Line(NamedTuple):
    """A line that rules something out."""

    place: int
    """Of the word at which it has told this."""
    house: str
    categories: frozenset[str]
    out: frozenset[str]
    """The values that the house cannot have, as far as this line tells."""


class OpenClues(NamedTuple):
    """Which clues are not yet known to hold: where the last list names them, and where some were removed since."""

    listed: Mapping[str, int]
    removed: Mapping[str, int]


class ClueText(NamedTuple):
    """Where the prompt names the values of a clue, or its house, and its relation."""

    values: Mapping[str, int]
    relation: Sequence[int]


class Branch(NamedTuple):
    """The values to be tried in a cell, in their order, and those that were tried, by where they are named."""

    category: str
    listed: Mapping[str, int]
    tried: dict[str, int]


class Call:
    """A call that has not returned: how many lines were live before its thoughts, and before its answer."""

    def __init__(self, lines: int, open_clues: OpenClues) -> None:
        self.start = self.sep = lines
        self.open_clues = open_clues
        self.goes_on = False  # with its answer, which calls again


def joined(words: Sequence[str], layout: Layout) -> Iterator[tuple[str, int]]:
    """Each word with its place; names of two words as one, at the place of the second.

    >>> list(joined("Pall Mall category".split(), Layout.of(5)))
    [('Pall Mall', 1), ('category', 2)]
    """
    names = {name for category in layout.categories for name in (category.name, *category.values) if " " in name}
    firsts = {name.split()[0] for name in names}
    places = iter(range(len(words)))
    for place in places:
        pair = " ".join(words[place : place + 2]) if words[place] in firsts else ""
        yield (pair, next(places)) if pair in names else (words[place], place)


class Reader:
    """What is known after each word."""

    def __init__(self, layout: Layout) -> None:
        self.values = {category.name: category.values for category in layout.categories}
        self.category_of = {value: name for name, values in self.values.items() for value in values}
        self.houses = [house(index) for index in range(layout.size)]
        self.lines: list[Line] = []  # those that are live
        self.calls: list[Call] = []
        self.clues: dict[str, ClueText] = {}
        self.open_clues = OpenClues({}, {})
        self.word = self.before = ""  # the last two
        self.line: list[str] = []  # the words since the last line ended, as long as the next one has not begun
        self.places: list[int] = []  # of its words
        self.ended = False
        self.latest: Line | None = None  # what was told by the line that ends with the last word
        self.house = ""  # whose cells are listed
        self.clue = ""  # which is applied
        self.between: dict[str, int] = {}  # what that is about, two values or a value and a house, and where it says so
        self.phase = ""  # of a deduction
        self.summing_up = self.summed_up = False  # a deduction
        self.trial: Line | None = None  # what a branch supposes
        self.branches: dict[int, Branch] = {}  # by the number of open calls
        self.failed = False  # whether the line that ends with the last word says that a call found no solution
        self._returned: Line | None = None  # the last line of an answer, which ends after its [RETURN]
        self._endings = {
            CALL: self._call,
            SEP: self._sep,
            RETURN: self._return,
            "\n": self._newline,
            PROMPT_END: self._newline,
        }

    def read(self, word: str, place: int) -> None:
        """One more word."""
        if self.ended:
            self.line, self.places, self.latest = [], [], None
        self.before, self.word = self.word, word
        self.ended = word in self._endings
        if self.ended:
            self._endings[word](place)
        elif word != START:
            self.line.append(word)
            self.places.append(place)
            self._take_note(word)

    def body(self) -> list[str]:
        """The line, without what an answer was written behind."""
        skipped = SKIPPED.get(self.line[0], 0) if self.line else 0
        return self.line[skipped:] if skipped else self.line

    def about(self, place: int) -> Line | None:
        """What the line that ends here rules out."""
        line = self.body()
        if len(line) > 3 and line[1] == "category":  # Color category is Blue
            return self._keeps(place, self.house, line[0], line[2:])
        if line[3:4] == ["changed"]:  # House#1 Color category changed from 2 possibilities Blue Red to ...
            return self._keeps(place, line[0], line[1], line[line.index("to") :])
        match line:
            case ["Removing", value, "from", where, *_]:
                return self._drops(self.places[3], where, value)
            case ["Forcing" | "Placing", value, "in", where, *_]:
                return self._keeps(self.places[3], where, self.category_of[value], [value])
            case ["Since", _, "is", "pinned", "to", _, ",", "removing", value, "from", where, *_]:
                return self._drops(self.places[10], where, value)
            case [value, "must", "be", "exactly", *_, where]:
                return self._drops(self.places[-1], where, value)
            case [where, "can't", "hold", first, *_, second]:
                return self._drops(self.places[-1], where, first, second)
        return None

    @property
    def branch(self) -> Branch | None:
        """That of the innermost call."""
        return self.branches.get(len(self.calls))

    def smallest_open_cell(self) -> tuple[str, str]:
        """House and category of the first cell with the fewest possibilities above one."""
        left = {where: self.left(where, self.places[-1]) for where in self.houses}
        cells = product(self.houses, self.values)
        counts = {cell: len(left[cell[0]].intersection(self.values[cell[1]])) for cell in cells}
        return min((cell for cell, count in counts.items() if count > 1), key=counts.__getitem__)

    def left(self, where: str, place: int) -> set[str]:
        """The values that are not ruled out for a house, by the lines up to a word."""
        return set(self.category_of) - ruled_out(where, [line for line in self.lines if line.place <= place])

    def certain(self, left: set[str]) -> set[str]:
        """Of the values left for a house, those that are alone in their category."""
        by_category = [left.intersection(values) for values in self.values.values()]
        return set().union(*(values for values in by_category if len(values) == 1))

    def _keeps(self, place: int, where: str, category: str, words: Sequence[str]) -> Line:
        """All values of the category are ruled out, but those among the words."""
        return Line(place, where, frozenset({category}), frozenset(self.values[category]) - set(words))

    def _drops(self, place: int, where: str, *values: str) -> Line:
        return Line(place, where, frozenset(self.category_of[value] for value in values), frozenset(values))

    def _take_note(self, word: str) -> None:
        """Within a line: who it is about."""
        if len(self.body()) == 1 and word in self.houses:
            self.house = word
        elif self.line[0] == "Applying" and len(self.line) == 2:
            self.clue = word

    def _call(self, place: int) -> None:
        if self.before == SEP:
            self.calls[-1].goes_on = True
        else:
            self.calls.append(Call(len(self.lines), self.open_clues))

    def _sep(self, place: int) -> None:
        if self.calls:
            self.calls[-1].sep = len(self.lines)
        if self.phase:
            self.phase, self.summing_up = "", True

    def _return(self, place: int) -> None:
        self.failed = self.line == ["No", "Solution"]
        self._returned = self.about(place + 1)
        if self.calls:
            call = self.calls.pop()
            del self.lines[call.start : call.sep]
            if call.goes_on:
                self._list_clues()
                self.calls.append(Call(call.start, call.open_clues))
            else:
                self.open_clues = call.open_clues

    def _newline(self, place: int) -> None:
        self.latest = self._returned if self.before == RETURN else self.about(place)
        self.failed = self.line == ["No", "Solution"] or (self.before == RETURN and self.failed)
        if self.latest is not None:
            self.lines.append(self.latest)
        self.summed_up = self.summing_up and self.before == RETURN
        self.summing_up = self.summing_up and not self.summed_up
        self._take_note_of_headings(place)

    def _take_note_of_headings(self, place: int) -> None:
        """What is listed, deduced or supposed from here on."""
        line = self.line
        if len(line) > 2 and line[1] == ":":
            place_of = dict(zip(line, self.places, strict=True))
            values = {word: at for word, at in place_of.items() if word in self.category_of or word in self.houses}
            self.clues[line[0]] = ClueText(values, [at for word, at in place_of.items() if word in RELATIONS])
            self.open_clues = OpenClues({**self.open_clues.listed, line[0]: self.places[0]}, {})
        elif line[:1] == ["PHASE"]:
            self.phase = line[1]
            named = zip(line, self.places, strict=True)
            self.between = {word: at for word, at in named if word in self.category_of or word in self.houses}
        elif line[:1] == ["Unsatisfied"]:
            self._list_clues()
        elif line[:1] == ["Remove"]:
            removed = {**self.open_clues.removed, line[1]: self.places[1]}
            self.open_clues = OpenClues(self.open_clues.listed, removed)
        elif line[:1] == ["Branching"]:
            listed = {word: at for word, at in zip(line, self.places, strict=True) if word in self.category_of}
            self.branches[len(self.calls)] = Branch(line[3], listed, {})
        elif line[:1] == ["Trying"]:
            if self.branch is not None:
                self.branch.tried[line[2]] = self.places[2]
            category = self.category_of[line[2]]
            others = frozenset(self.values[category]) - {line[2]}
            self.trial = Line(place, line[4], frozenset({category}), others)

    def _list_clues(self) -> None:
        """A list of clues is complete."""
        self.open_clues = OpenClues(dict(zip(self.line[3:], self.places[3:], strict=True)), {})


def ruled_out(where: str, lines: Sequence[Line]) -> set[str]:
    """The values that a house cannot have, by these lines."""
    return set().union(*(line.out for line in lines if line.house == where))
