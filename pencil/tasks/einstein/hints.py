"""What to have in mind while a puzzle is thought through, and where to look it up.

A trace says line by line what is ruled out, and nowhere at once what is still possible. To find out by the trace alone
how all that is put together takes long. So a learner is told, from the first layers to the last:

- NOTED: at the end of a line about a cell, the house and the values that the line rules out there.
- LOOKED_UP: the values that all lines up to now rule out, looked up at the ends of those lines, a head for each
  category: for a cell that is about to be printed, and, over some words of each line of a deduction, for one house
  after the other. The values of a clue are looked up where the clue is printed.
- CERTAIN: at those words, the values that alone are left for the house.
- REMOVABLE: in a first phase, over the words after those, the values that are still possible in one house after the
  other and certain in another.
- DECIDED: at the end of such a line, the value and the house of the next one, by a look at its last words.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from pencil.tasks.einstein.instance import house
from pencil.tasks.einstein.state import Layout
from pencil.tasks.hints import Hint
from pencil.tokens import CALL, PROMPT_END, RETURN, SEP, START

NOTED, LOOKED_UP, CERTAIN, REMOVABLE, DECIDED = 3, 5, 7, 9, 10
NOWHERE = [0]
"""Where to look when there is nothing to be found: at the first word."""
RELATIONS = ("same", "left", "right", "next")


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


class Call:
    """A call that has not returned: how many lines were live before its thoughts, and before its answer."""

    def __init__(self, lines: int, open_clues: OpenClues) -> None:
        self.start = self.sep = lines
        self.open_clues = open_clues
        self.goes_on = False  # with its answer, which calls again


def hints(words: Sequence[str], size: int) -> list[Hint]:
    """The hints of a trace, or of what is live and what is generated from there on."""
    reader = Reader(Layout.of(size))
    for word, place in joined(words, reader.layout):
        reader.read(word, place)
    return reader.hints


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
    """Reads a trace word by word, keeps the lines that are live, and writes hints."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.hints: list[Hint] = []
        self.values = {category.name: category.values for category in layout.categories}
        self.category_of = {value: name for name, values in self.values.items() for value in values}
        self.heads = {category: head for head, category in enumerate(self.values)}
        self.houses = [house(index) for index in range(layout.size)]
        self.lines: list[Line] = []
        self.calls: list[Call] = []
        self.clues: dict[str, tuple[dict[str, int], list[int]]] = {}  # where a clue names its values and its relation
        self.line: list[str] = []
        self.places: list[int] = []  # of its words
        self.house = ""  # whose cells are listed
        self.clue = ""  # which is applied
        self.deducing = self.summing_up = False
        self.phase = ""  # of the deduction
        self.returned: Line | None = None  # the last line of an answer, which ends after its [RETURN]
        self.trial: Line | None = None  # what a branch supposes
        self.open_clues = OpenClues({}, {})
        self.undecided: int | None = None  # the end of a line, until it is known what the next one says
        self.before = ""  # the last word

    def read(self, word: str, place: int) -> None:
        """One more word."""
        endings = {
            CALL: self._call,
            SEP: self._sep,
            RETURN: self._return,
            "\n": self._newline,
            PROMPT_END: self._newline,
        }
        if word in endings:
            endings[word](place)
            self.line, self.places = [], []
        elif word != START:
            self.line.append(word)
            self.places.append(place)
            self._word(word, place)
        self.before = word

    def _call(self, place: int) -> None:
        if self.before == SEP:
            self.calls[-1].goes_on = True
        else:
            self.calls.append(Call(len(self.lines), self.open_clues))

    def _sep(self, place: int) -> None:
        if self.calls:
            self.calls[-1].sep = len(self.lines)
        if self.deducing:
            self._decide()
            self.deducing, self.summing_up = False, True
            self._sum_up(place)

    def _return(self, place: int) -> None:
        self.returned = self._about(place + 1)
        if self.calls:
            call = self.calls.pop()
            del self.lines[call.start : call.sep]
            if call.goes_on:
                self._list_clues()
                self.calls.append(Call(call.start, call.open_clues))
            else:
                self.open_clues = call.open_clues

    def _newline(self, place: int) -> None:
        line = self.returned if self.before == RETURN else self._about(place)
        self._take_note_of_headings(place)
        if line is not None:
            self.lines.append(line)
            known = {value: value in line.out for name in line.categories for value in self.values[name]}
            self._hint(line.place, NOTED, {**self._only(line.house), **known})
        if self.deducing:
            self._look_up_houses()
            self._look_up_values()
            self._decide()
            self._look_ahead(place)
        elif self.summing_up and self.before != RETURN:
            self._sum_up(place)
        elif self.summing_up or self.line[:1] == ["Applying"] or self._body()[3:4] == ["changed"]:
            self.summing_up = False
            self._look_up_clue(place)

    def _take_note_of_headings(self, place: int) -> None:
        """What is listed, deduced or supposed from here on."""
        line = self.line
        if len(line) > 2 and line[1] == ":":
            place_of = dict(zip(line, self.places, strict=True))
            values = {word: at for word, at in place_of.items() if word in self.category_of or word in self.houses}
            self.clues[line[0]] = values, [at for word, at in place_of.items() if word in RELATIONS]
            self.open_clues = OpenClues({**self.open_clues.listed, line[0]: self.places[0]}, {})
        elif line[:1] == ["PHASE"]:
            self.deducing, self.phase = True, line[1]
        elif line[:1] == ["Unsatisfied"]:
            self._list_clues()
        elif line[:1] == ["Remove"]:
            removed = {**self.open_clues.removed, line[1]: self.places[1]}
            self.open_clues = OpenClues(self.open_clues.listed, removed)
        elif line[:1] == ["Trying"]:
            category = self.category_of[line[2]]
            others = frozenset(self.values[category]) - {line[2]}
            self.trial = Line(place, line[4], frozenset({category}), others)

    def _word(self, word: str, place: int) -> None:
        """Within a line: who it is about, and what is known of the cell it is about to print."""
        line = self._body()
        if len(line) == 1 and word in self.houses:
            self.house = word
        elif self.line[0] == "Applying" and len(self.line) == 2:
            self.clue = word
        elif len(line) == 2 and word == "category":
            self._look_up_cell(place, self.house, line[0], self.lines, self.trial)
        elif len(line) == 3 and word == "category" and line[0] in self.houses:
            known_before = self.lines[: self.calls[-1].start] if self.calls else self.lines
            self._look_up_cell(place, line[0], line[1], known_before)
        elif word == "to" and line[3:4] == ["changed"]:
            self._look_up_cell(place, line[0], line[1], self.lines)
        elif line[:1] == ["Unsatisfied"] and len(line) > 2:
            self._look_up_open_clues(place)
        elif line[:2] == ["PHASE", "1:"] and self.clue in self.clues:
            values, relation = self.clues[self.clue]
            first, *second = values.values()
            named = {"for": [first], "and": second, "under": relation}.get(word)
            if named:
                self._hint(place, LOOKED_UP, looks={len(self.heads): named})

    def _body(self) -> list[str]:
        """The line, without what an answer was written behind."""
        skipped = {"Solution": 1, "Applying": 2}.get(self.line[0], 0) if self.line else 0
        return self.line[skipped:]

    def _about(self, place: int) -> Line | None:
        """What the line that ends here rules out."""
        line = self._body()
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

    def _keeps(self, place: int, where: str, category: str, words: Sequence[str]) -> Line:
        """All values of the category are ruled out, but those among the words."""
        return Line(place, where, frozenset({category}), frozenset(self.values[category]) - set(words))

    def _drops(self, place: int, where: str, *values: str) -> Line:
        return Line(place, where, frozenset(self.category_of[value] for value in values), frozenset(values))

    def _only(self, word: str) -> dict[str, bool]:
        """One house in mind, and no other."""
        return {other: other == word for other in self.houses}

    def _look_up_cell(
        self, place: int, where: str, category: str, lines: Sequence[Line], trial: Line | None = None
    ) -> None:
        """What is ruled out there by the lines given, and by what a branch supposes, until it is listed itself."""
        about = [line for line in lines if line.house == where and category in line.categories]
        if trial and trial.house == where and category in trial.categories:
            about += [trial] if all(line.place < trial.place for line in about) else []
        out = frozenset().union(*(line.out for line in about))
        in_mind = {value: value in out for value in self.values[category]}
        self._hint(place, LOOKED_UP, in_mind, {self.heads[category]: self._telling(about, category)})

    def _look_up_houses(self) -> None:
        """Over the last words of a line of a deduction, what is ruled out for one house after the other.

        In the first phase it is the words before those, and the last ones put it all together.
        """
        count = len(self.houses)
        places = self.places[-2 * count : -count] if self.phase == "1:" else self.places[-count:]
        left: dict[str, set[str]] = {}
        for where, place in zip(self.houses, places, strict=True):
            about = [line for line in self.lines if line.house == where and line.place < place]
            left[where] = set(self.category_of).difference(*(line.out for line in about))
            looks = {head: self._telling(about, category) for category, head in self.heads.items()}
            certain = self._certain(left[where])
            self._hint(place, LOOKED_UP, {value: value not in left[where] for value in self.category_of}, looks)
            self._hint(place, CERTAIN, {value: value in certain for value in self.category_of})
        if self.phase == "1:":
            self._compare_houses(left, places, self.places[-count:])

    def _compare_houses(self, left: Mapping[str, set[str]], looked_up: Sequence[int], places: Sequence[int]) -> None:
        """What can be removed from one house after the other, by a look at the others and at itself."""
        for at, (where, place) in enumerate(zip(self.houses, places, strict=True)):
            elsewhere = {value for other in self.houses if other != where for value in self._certain(left[other])}
            looks = {0: [*looked_up[:at], *looked_up[at + 1 :]], 1: [looked_up[at]]}
            removable = left[where] & elsewhere
            in_mind = {value: value in removable for value in self.category_of}
            self._hint(place, REMOVABLE, in_mind, looks)

    def _certain(self, left: set[str]) -> set[str]:
        """Of the values left for a house, those that are alone in their category."""
        by_category = [left.intersection(values) for values in self.values.values()]
        return set().union(*(values for values in by_category if len(values) == 1))

    def _look_up_values(self) -> None:
        """At each value that a line of a deduction names, the houses it is ruled out for."""
        for word, place in zip(self.line, self.places, strict=True):
            if word in self.category_of:
                lines = [line for line in self.lines if word in line.out and line.place < place]
                gone = {line.house for line in lines}
                looks = {len(self.heads): [line.place for line in lines] or NOWHERE}
                self._hint(place, LOOKED_UP, {where: where in gone for where in self.houses}, looks)

    def _telling(self, lines: Sequence[Line], category: str) -> list[int]:
        """Where lines about a category rule something out; or else those that do not, or nowhere."""
        about = [line for line in lines if category in line.categories]
        telling = [line for line in about if not line.out.isdisjoint(self.values[category])]
        return [line.place for line in telling or about] or NOWHERE

    def _look_ahead(self, place: int) -> None:
        """At the end of a line of a deduction: the houses and values just looked up, and soon what comes next."""
        last = self.places[-len(self.houses) :]
        named = [at for word, at in zip(self.line, self.places, strict=True) if word in self.category_of]
        self._hint(place, DECIDED, looks={**{head: [at] for head, at in enumerate(last)}, len(self.houses): named})
        self.undecided = place

    def _decide(self) -> None:
        """What the end of the line before should have had in mind: the value and the house of this one."""
        if self.undecided is None:
            return
        line = self._about(0)
        values = set(self.line[1:2]) if self.line[:1] in (["Placing"], ["Forcing"]) else line.out if line else set()
        in_mind = {value: value in values for value in self.category_of}
        self._hint(self.undecided, DECIDED, {**self._only(line.house if line else ""), **in_mind})
        self.undecided = None

    def _sum_up(self, place: int) -> None:
        """Where a deduction is summed up: what its lines rule out, a head for each house."""
        call = self.calls[-1]
        lines = self.lines[call.start : call.sep]
        found = {where: [line.place for line in lines if line.house == where] or NOWHERE for where in self.houses}
        self._hint(place, LOOKED_UP, looks=dict(enumerate(found.values())))

    def _look_up_clue(self, place: int) -> None:
        """After a deduction: the values of its clue, and the lines that make them certain."""
        values, _ = self.clues.get(self.clue, ({}, []))
        for head, (value, at) in enumerate(values.items()):
            self._hint(place, LOOKED_UP, {value: True}, {head: [at]})
            if value in self.category_of:
                others = set(self.values[self.category_of[value]]) - {value}
                certain = [line.place for line in self.lines if others <= line.out and value not in line.out]
                self._hint(place, DECIDED, looks={head: certain or NOWHERE})

    def _list_clues(self) -> None:
        """A list of clues is complete."""
        self.open_clues = OpenClues(dict(zip(self.line[3:], self.places[3:], strict=True)), {})

    def _look_up_open_clues(self, place: int) -> None:
        """Within a list of clues: those of the last list, and those that were removed since."""
        listed, removed = self.open_clues
        looks = {head: list(clues.values()) or NOWHERE for head, clues in enumerate(self.open_clues)}
        self._hint(place, LOOKED_UP, {clue: clue in listed and clue not in removed for clue in self.clues}, looks)

    def _hint(
        self,
        place: int,
        depth: int,
        mind: Mapping[str, bool] | None = None,
        looks: Mapping[int, Sequence[int]] | None = None,
    ) -> None:
        """A name of two words is in mind by its second."""
        words = {name.split()[-1]: holds for name, holds in (mind or {}).items()}
        self.hints.append(Hint(place, depth, words, looks or {}))
