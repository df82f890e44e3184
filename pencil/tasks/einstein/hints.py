"""What to have in mind while a puzzle is thought through, and where to look it up.

A trace says line by line what is ruled out, and nowhere at once what is still possible. To find out by the trace alone
how all that is put together takes long. So a learner is told, from the first layers to the last:

- NOTED: at the end of a line about a cell, the house and the values that the line rules out there. It comes early, as
  words that know those before them allow.
- LOOKED_UP: the values that all lines up to now rule out, looked up at the ends of those lines, a head for each
  category: for a cell that is about to be printed, and, over some words of each line of a deduction, for one house
  after the other. The values of a clue are looked up where the clue is printed, and their categories in a first phase;
  after a deduction the next clue, and before a try the values that are out of the question.
- CERTAIN: at those words, the values that alone are left for the house; in a first phase, over the words after those,
  the values that no other house can hold, and the category that comes first. After a deduction, where the values of its
  clue are certain; before a try, the values that are left.
- COMPARED: at these words, the values that are certain in one house after the other and still possible in another, or
  that the house is to be forced to hold, and what that calls for. At the values of a line, and of a clue, the houses
  where they are certain. In a summary, the categories that changed; before a branch, its cell.
- WEIGHED, where a model has layers enough: in a first phase, each house has had its certain values of the clue's
  categories in mind when it was COMPARED, and now looks, by category, at the other houses that can still hold them.
  Attention finds one such house as surely as many; an average over all houses does not. In a second phase, the houses
  that can hold just one of the two values. A head more looks at the value that was removed last, which knows where it
  is certain.
  Where a first phase names a house to remove a value from or to force one in, the word at which it was looked up.
- In the end, before the owner of the Fish is named: the nationalities that are ruled out for the house, LOOKED_UP too.
  In the list of clues after a propagation, the next one is found by the one said last: the word after its deduction has
  LOOKED_UP which clue stayed open, and looks at the word after the deduction of the one that stayed open before it.
- DECIDED: at the end of a line, the value of the next one, and its house, or in a first phase its verb; the next clue
  of a list, the cell to branch on, the value to try.
"""

from collections.abc import Container, Iterable, Mapping, Sequence

from pencil.tasks.einstein.first_phase import FirstPhase
from pencil.tasks.einstein.reading import Line, Reader, joined, ruled_out
from pencil.tasks.einstein.state import Layout
from pencil.tasks.hints import LAYERS, Hint
from pencil.tokens import CALL, PROMPT_END, RETURN, SEP, START

NOTED, LOOKED_UP, CERTAIN, COMPARED, WEIGHED, DECIDED = 2, 4, 6, 8, 9, 10
STEPWISE = {CERTAIN: 5, COMPARED: 7}
"""What comes earlier where there are layers enough to weigh what was compared."""
ENOUGH = 7
NOWHERE = [0]
"""Where to look when there is nothing to be found: at the first word."""


def hints(words: Sequence[str], size: int, layers: int = LAYERS) -> list[Hint]:
    """The hints of a trace, or of what is live and what is generated from there on, for so many layers."""
    layout = Layout.of(size)
    reader = Reader(layout)
    hinter = Hinter(reader, stepwise=layers >= ENOUGH)
    for word, place in joined(words, layout):
        reader.read(word, place)
        hinter.follow(word, place)
    return hinter.hints


class Hinter:
    """Follows a reader and writes hints."""

    def __init__(self, reader: Reader, stepwise: bool) -> None:
        self.reader = reader
        self.stepwise = stepwise
        self.hints: list[Hint] = []
        self.heads = {category: head for head, category in enumerate(reader.values)}
        self.last_head = len(self.heads)
        self.house_words: dict[str, int] = {}  # where each house was looked up last
        self.owning = ""  # the house that owns the Fish, once it is said
        self.applied: tuple[str, int] | None = None  # the last clue, until it is known whether it stays open
        self.kept: dict[str, int] | None = None  # those that did, by the words that tell; None before any is applied
        self.undecided: tuple[int, str] | None = None  # the end and the phase of a line, until the next one is known

    def follow(self, word: str, place: int) -> None:
        """After one more word that the reader has read."""
        if self.stepwise:
            self._follow_clues(word, place)
        if word == SEP and self.reader.summing_up:
            self._decide()
            self._sum_up(place)
        elif word in ("\n", PROMPT_END):
            self._end_line(place)
        elif word not in (START, CALL, SEP, RETURN):
            self._within_line(word, place)

    def _follow_clues(self, word: str, place: int) -> None:
        """Which clues stay open: the word after a deduction tells, and knows the one that stayed open before."""
        reader = self.reader
        if reader.line == ["Remove"]:
            self.applied = None
        elif self.applied and (reader.line in (["Applying"], ["======"]) or (word == SEP and not reader.summing_up)):
            clue, named = self.applied
            self.kept = self.kept or {}
            self._hint(place, LOOKED_UP, _among(reader.clues, {clue}), {self.last_head: [named]})
            self._hint(place, CERTAIN, looks={self.last_head: list(self.kept.values())[-1:] or NOWHERE})
            self.kept[clue], self.applied = place, None
        if reader.line[:1] == ["Applying"] and reader.line[1:] == [word]:
            self.applied = word, place
            self.kept = self.kept or {}
        elif reader.line == ["Trying"] or (word in ("\n", RETURN) and reader.line[:1] == ["Unsatisfied"]):
            self.applied = self.kept = None

    def _within_line(self, word: str, place: int) -> None:
        """What is known of the cell, the clue or the list that is about to be printed."""
        reader, line = self.reader, self.reader.body()
        if len(line) == 2 and word == "category":
            self._look_up_cell(place, reader.house, line[0], reader.lines, reader.trial)
        elif len(line) == 3 and word == "category" and line[0] in reader.houses:
            known_before = reader.lines[: reader.calls[-1].start] if reader.calls else reader.lines
            self._look_up_cell(place, line[0], line[1], known_before)
        elif word == "to" and line[3:4] == ["changed"]:
            self._look_up_cell(place, line[0], line[1], reader.lines)
        elif line[:1] == ["Unsatisfied"] and len(line) > 2:
            self._look_up_open_clues(place)
        elif line[:1] == ["Branching"] and len(line) in (2, 3):
            self._look_up_open_cell(place)
        elif line == ["Trying", "possibility"]:
            self._look_up_tries(place)
        elif line[:1] == ["=>"] and word in reader.houses:
            self.owning = word
        elif line == ["=>", "the"] and self.stepwise:
            self._look_up_cell(place, self.owning, "Nationality", reader.lines)
        elif line[3:] == [word] and line[0] in ("Removing", "Forcing") and reader.phase == "1:" and self.stepwise:
            self._hint(place - 1, WEIGHED, self._only(word), {0: [self.house_words[word]]})
        elif line[:2] == ["PHASE", "1:"] and reader.clue in reader.clues:
            clue = reader.clues[reader.clue]
            first, *second = clue.values.values()
            named = {"for": [first], "and": second, "under": clue.relation}.get(word)
            if named:
                self._hint(place, LOOKED_UP, looks={self.last_head: named})

    def _end_line(self, place: int) -> None:
        reader = self.reader
        if reader.latest is not None:
            self._note(reader.latest)
        if reader.phase:
            self._look_up_values()
            self._look_up_houses()
            if reader.phase == "2:":
                self._look_up_between(place)
            self._decide()
            self._look_ahead(place)
        elif reader.summing_up:
            self._sum_up(place)
        elif reader.line[:1] == ["Branching"] or reader.failed:
            self._look_up_tries(place)
        elif reader.summed_up or reader.line[:1] == ["Applying"] or reader.body()[3:4] == ["changed"]:
            self._look_up_clue(place)
            self._look_up_next_clue(place)
        elif reader.line[:1] == ["Remove"]:
            self._look_up_next_clue(place)

    def _note(self, line: Line) -> None:
        """What a line tells; if it is about two categories, also which of them it changes."""
        values, category_of = self.reader.values, self.reader.category_of
        about = [name for name in values if name in line.categories]  # in an order that is always the same
        known = {value: value in line.out for name in about for value in values[name]}
        self._hint(line.place, NOTED, {**self._only(line.house), **known})
        if self.reader.phase and len(line.categories) > 1:
            news = line.out - ruled_out(line.house, self.reader.lines[:-1])
            self._hint(line.place, CERTAIN, _among(values, {category_of[value] for value in news}))

    def _look_up_cell(
        self, place: int, where: str, category: str, lines: Sequence[Line], trial: Line | None = None
    ) -> None:
        """What is ruled out there by the lines given, and by what a branch supposes, until it is listed itself."""
        about = [line for line in lines if line.house == where and category in line.categories]
        if trial and trial.house == where and category in trial.categories:
            about += [trial] if all(line.place < trial.place for line in about) else []
        in_mind = _among(self.reader.values[category], ruled_out(where, about))
        self._hint(place, LOOKED_UP, in_mind, {self.heads[category]: self._telling(about, category)})

    def _look_up_houses(self) -> None:
        """Over the last words of a line of a deduction, what is ruled out for one house after the other.

        In the first phase it is the words before those, and the last ones put it all together.
        """
        reader, count = self.reader, len(self.reader.houses)
        places = reader.places[-2 * count : -count] if reader.phase == "1:" else reader.places[-count:]
        self.house_words = dict(zip(reader.houses, places, strict=True))
        left = {where: reader.left(where, place - 1) for where, place in self.house_words.items()}
        for where, place in self.house_words.items():
            about = [line for line in reader.lines if line.house == where and line.place < place]
            looks = {head: self._telling(about, category) for category, head in self.heads.items()}
            self._hint(place, LOOKED_UP, _among(reader.category_of, ruled_out(where, about)), looks)
            self._hint(place, CERTAIN, _among(reader.category_of, reader.certain(left[where])))
        if reader.phase == "1:":
            self._compare_houses(FirstPhase(reader, {where: reader.left(where, places[-1]) for where in reader.houses}))

    def _compare_houses(self, phase: FirstPhase) -> None:
        """What can be forced in and removed from one house after the other, by a look at the others and at itself."""
        only_here, forceable, spreading = phase.only_here(), phase.forceable(), phase.spreading()
        reader, words, category_of = self.reader, self.house_words, self.reader.category_of
        categories, named = phase.open_categories(), [*reader.between.values(), reader.places[1]]
        for (where, at), place in zip(words.items(), reader.places[-len(words) :], strict=True):
            # with many houses, the first of these words come early
            said = {head: [word] if word <= place else NOWHERE for head, word in enumerate(named)}
            self._hint(place, LOOKED_UP, _among(reader.values, categories), said)
            others = [other for other in words.values() if other != at]
            if self.stepwise:  # few values for each head, since what all others rule out is close to what most do
                looks = {**dict.fromkeys(self.heads.values(), others), self.last_head: [at]}
                asked = [value for category in categories for value in reader.values[category]]
            else:
                looks, asked = {0: others, 1: [at]}, list(category_of)
            self._hint(place, CERTAIN, _among(asked, only_here[where]), looks)
            self._hint(place, CERTAIN, _among(reader.values, categories[:1]))
            signs, stage = phase.signs(forceable[where], spreading[where]), COMPARED
            if self.stepwise:
                certain = {value for value in reader.certain(phase.left[where]) if category_of[value] in categories}
                own = {head: [at] for head in range(self.last_head + 1)}
                self._hint(place, COMPARED, _among(category_of, certain | forceable[where]), own)
                self._hint(place, COMPARED, {sign: signs[sign] for sign in ("Forcing", "Placing")})
                looks, stage = self._rivals(where, certain, phase), WEIGHED
            self._hint(place, stage, _among(category_of, forceable[where] | spreading[where]), looks)
            self._hint(place, stage, signs)

    def _rivals(self, where: str, certain: set[str], phase: FirstPhase) -> dict[int, list[int]]:
        """Where other houses were looked up that can hold what this one has for certain, by category.

        One more head looks at the value that was removed, which knows where it is certain: what has become certain
        before that house is not removed from the others.
        """
        last = {self.last_head: self.reader.places[1:2]} if self.reader.line[0] == "Removing" else {}
        rivals = {
            head: phase.rivals(where, certain.intersection(self.reader.values[category]))
            for category, head in self.heads.items()
        }
        found = {head: [self.house_words[house] for house in houses] or NOWHERE for head, houses in rivals.items()}
        return found | last

    def _look_up_values(self) -> None:
        """At each value that a line of a deduction names, the houses it is ruled out for."""
        reader = self.reader
        free = reader.places if reader.phase == "1:" else reader.places[:-1]
        for word, place in zip(reader.line, free, strict=False):
            if word in reader.category_of:
                self._look_up_value(word, place, place - 1)
        if reader.phase == "1:" and reader.line[0] != "PHASE":
            self._look_up_certain(reader.line[1], reader.places[1])

    def _look_up_between(self, newline: int) -> None:
        """In a second phase, where the values of a clue can be and are: the second at the last word, then the first."""
        reader = self.reader
        for value, place in zip(reader.between, (newline, reader.places[-1]), strict=True):
            if value in reader.category_of:
                self._look_up_value(value, place, place)
                self._look_up_certain(value, place)
        self._compare_values(newline)

    def _compare_values(self, newline: int) -> None:
        """The houses that can hold one of the two values only; those of the second are known at the word before."""
        reader = self.reader
        if self.stepwise and all(value in reader.category_of for value in reader.between):
            count = {where: len(reader.left(where, newline).intersection(reader.between)) for where in reader.houses}
            differing = {where for where in reader.houses if count[where] == 1}
            self._hint(newline, WEIGHED, _among(reader.houses, differing), {0: reader.places[-1:]})

    def _look_up_value(self, value: str, place: int, until: int) -> None:
        """The houses that a value is ruled out for, by the lines up to a word."""
        lines = [line for line in self.reader.lines if value in line.out and line.place <= until]
        looks = {self.last_head: [line.place for line in lines] or NOWHERE}
        self._hint(place, LOOKED_UP, _among(self.reader.houses, {line.house for line in lines}), looks)

    def _look_up_certain(self, value: str, place: int) -> None:
        """The houses where a value is certain, by the words at which the houses were looked up."""
        reader = self.reader
        certain = {where for where in reader.houses if value in reader.certain(reader.left(where, place))}
        seen = [at for where, at in self.house_words.items() if where in certain]
        self._hint(place, COMPARED, _among(reader.houses, certain), {0: seen or NOWHERE})

    def _telling(self, lines: Sequence[Line], category: str) -> list[int]:
        """Where lines about a category rule something out; or else those that do not, or nowhere."""
        about = [line for line in lines if category in line.categories]
        telling = [line for line in about if not line.out.isdisjoint(self.reader.values[category])]
        return [line.place for line in telling or about] or NOWHERE

    def _look_ahead(self, place: int) -> None:
        """At the end of a line of a deduction: the houses and values just looked up, and soon what comes next."""
        reader = self.reader
        last = reader.places[-len(reader.houses) :] if reader.phase == "1:" else reader.places[-1:]
        named = [at for word, at in zip(reader.line, reader.places, strict=True) if word in reader.category_of]
        self._hint(place, DECIDED, looks={**{head: [at] for head, at in enumerate(last)}, len(reader.houses): named})
        self.undecided = place, reader.phase

    def _decide(self) -> None:
        """What the end of the line before should have had in mind: the value of this one, then also the house."""
        if self.undecided is None:
            return
        line, words = self.reader.about(0), self.reader.line
        values = set(words[1:2]) if words[:1] in (["Placing"], ["Forcing"]) else line.out if line else set()
        place, phase = self.undecided
        self._hint(place, DECIDED, _among(self.reader.category_of, values))
        if phase == "1:":
            self._hint(place, DECIDED, _among(("Removing", "Forcing", "PHASE"), words[:1]))
        else:
            self._hint(place, DECIDED, self._only(line.house if line else ""))
        self.undecided = None

    def _sum_up(self, place: int) -> None:
        """Where a deduction is summed up: the categories it changes, then the houses where it changes the next one."""
        call, houses = self.reader.calls[-1], self.reader.houses
        changes = self._changes(call.start, call.sep)[len(self.reader.lines) - call.sep :]
        told: dict[str, list[int]] = {}
        for category, _, places in changes:
            told.setdefault(category, []).extend(places)
        looks = {head: told.get(category, NOWHERE) for category, head in self.heads.items()}
        self._hint(place, COMPARED, _among(self.reader.values, told), looks)
        following = next(iter(told), "")
        changed = {where for category, where, _ in changes if category == following}
        self._hint(place, DECIDED, _among(houses, changed), {0: told.get(following, NOWHERE)})

    def _changes(self, start: int, end: int) -> list[tuple[str, str, list[int]]]:
        """The cells that some lines change, in the order of printing: category, house, and where the lines are."""
        found = []
        for category, values in self.reader.values.items():
            for where in self.reader.houses:
                new = set(values) - ruled_out(where, self.reader.lines[:start])
                telling = [
                    line.place for line in self.reader.lines[start:end] if line.house == where and line.out & new
                ]
                if telling:
                    found.append((category, where, telling))
        return found

    def _look_up_clue(self, place: int) -> None:
        """After a deduction: the values of its clue and its relation, and the lines that make the values certain."""
        reader = self.reader
        if reader.clue not in reader.clues:
            return
        clue = reader.clues[reader.clue]
        self._hint(place, LOOKED_UP, looks={len(clue.values): clue.relation or NOWHERE})
        for head, (value, at) in enumerate(clue.values.items()):
            self._hint(place, LOOKED_UP, {value: True}, {head: [at]})
            if value in reader.category_of:
                others = set(reader.values[reader.category_of[value]]) - {value}
                certain = [line.place for line in reader.lines if others <= line.out and value not in line.out]
                self._hint(place, CERTAIN, looks={head: certain or NOWHERE})

    def _look_up_next_clue(self, place: int) -> None:
        """After a deduction: the clue behind its own in the last list, or its own, if it is the last one."""
        listed = self.reader.open_clues.listed
        rest = list(listed)[list(listed).index(self.reader.clue) :]
        self._hint(place, LOOKED_UP, _among(self.reader.clues, rest[1:2]), {self.last_head: [listed[rest[:2][-1]]]})

    def _look_up_open_clues(self, place: int) -> None:
        """Within a list of clues: those of the last list, and those that were removed since; then the next one.

        With layers enough, the next one that stayed open is found by the one said last, which it knows.
        """
        if self.kept is not None:
            following = list(self.kept)[len(self.reader.body()) - 3 :][:1]
            looks = {0: [self.kept[clue] for clue in following] or NOWHERE}
            self._hint(place, COMPARED, _among(self.reader.clues, following), looks)
            self._hint(place, DECIDED, _among(self.reader.clues, following))
            return
        listed, removed = self.reader.open_clues
        looks = {head: list(clues.values()) or NOWHERE for head, clues in enumerate(self.reader.open_clues)}
        still = [clue for clue in listed if clue not in removed]
        said = len(self.reader.body()) - 3  # Unsatisfied constraints are
        self._hint(place, LOOKED_UP, _among(self.reader.clues, still), looks)
        self._hint(place, DECIDED, _among(self.reader.clues, still[said : said + 1]))

    def _look_up_open_cell(self, place: int) -> None:
        """Before the house and the category of a branch: the line about that cell."""
        reader = self.reader
        where, category = reader.smallest_open_cell()
        [*_, line] = [line for line in reader.lines if line.house == where and category in line.categories]
        self._hint(place, COMPARED, looks={0: [line.place]})
        self._hint(place, DECIDED, {**self._only(where), **_among(reader.values, [category])})

    def _look_up_tries(self, place: int) -> None:
        """Before a possibility is tried, or none: those that were tried or are certain elsewhere, and the next one."""
        reader, branch = self.reader, self.reader.branch
        if branch is None:
            return
        values = reader.values[branch.category]
        left = {line.place: set(values) - line.out for line in reader.lines if branch.category in line.categories}
        certain = {place: only for place, only in left.items() if len(only) == 1}
        gone = set(branch.tried).union(*certain.values())
        rest = [value for value in branch.listed if value not in gone]
        looks = {0: list(branch.tried.values()) or NOWHERE, 1: list(certain) or NOWHERE}
        self._hint(place, LOOKED_UP, _among(values, gone), looks)
        self._hint(place, CERTAIN, _among(values, rest), {0: list(branch.listed.values())})
        self._hint(place, DECIDED, _among(values, rest[:1]))

    def _only(self, word: str) -> dict[str, bool]:
        """One house in mind, and no other."""
        return _among(self.reader.houses, {word})

    def _hint(
        self,
        place: int,
        depth: int,
        mind: Mapping[str, bool] | None = None,
        looks: Mapping[int, Sequence[int]] | None = None,
    ) -> None:
        """A name of two words is in mind by its second."""
        words = {name.split()[-1]: holds for name, holds in (mind or {}).items()}
        depth = STEPWISE.get(depth, depth) if self.stepwise else depth
        self.hints.append(Hint(place, depth, words, looks or {}))


def _among(words: Iterable[str], chosen: Container[str]) -> dict[str, bool]:
    """Which words are to be in mind, and which are not."""
    return {word: word in chosen for word in words}
