import re
from collections.abc import Sequence
from itertools import pairwise
from random import Random

import pytest

from pencil.rule import Context
from pencil.tasks import get_task
from pencil.tasks.einstein.first_phase import SIGNS
from pencil.tasks.einstein.hints import (
    CERTAIN,
    COMPARED,
    DECIDED,
    ENOUGH,
    LOOKED_UP,
    NOTED,
    NOWHERE,
    STEPWISE,
    WEIGHED,
    hints,
)
from pencil.tasks.einstein.instance import house
from pencil.tasks.einstein.state import Layout, State
from pencil.tasks.hints import Hint
from pencil.trace import Trace
from pencil.train.config import DataConfig
from pencil.train.data import Data

SIZES = pytest.mark.parametrize("size", [3, 4, 5])
VALUES = {size: [value.split()[-1] for value in State(Layout.of(size)).layout.place_of] for size in (3, 4, 5)}


def trace_of(size: int, index: int = 0) -> Trace[str]:
    task = get_task("einstein", size)
    trace: Trace[str] = task.trace(task.draw(1, index))
    return trace


def words_of(trace: Trace[str]) -> list[str]:
    return [*trace.prompt, *trace.generated]


def mind_at(found: list[Hint], depth: int) -> dict[int, dict[str, bool]]:
    """For each word, all that is to be in mind after it at a depth."""
    mind: dict[int, dict[str, bool]] = {}
    for hint in found:
        if hint.depth == depth and hint.mind:
            mind.setdefault(hint.place, {}).update(hint.mind)
    return mind


@SIZES
def test_the_words_of_a_deduction_know_what_is_possible(size: int, states: dict[int, tuple[State, State]]) -> None:
    trace = trace_of(size)
    words = words_of(trace)
    noted, looked_up, certain = (mind_at(hints(words, size), depth) for depth in (NOTED, LOOKED_UP, CERTAIN))
    assert states
    for newline, (before, after) in list(states.items())[:300]:
        end = len(trace.prompt) + newline
        assert words[end] == "\n"
        start = max(place for place in range(end) if words[place] == "\n") + 1
        told = next((place for place in range(start, end) if place in noted), start)
        looked_at = [place for place in range(start, end) if set(VALUES[size]) <= set(looked_up.get(place, ()))]
        assert len(looked_at) == size
        for at, place in enumerate(looked_at):
            state = after if told < place else before
            masks = [row[at] for row in state.cells]
            possible = [state.layout.values(category, mask) for category, mask in enumerate(masks)]
            for value in state.layout.place_of:
                word = value.split()[-1]
                assert looked_up[place][word] == all(value not in values for values in possible)
                assert certain[place][word] == ([value] in possible)


@SIZES
def test_a_second_phase_knows_where_its_two_values_are(size: int, states: dict[int, tuple[State, State]]) -> None:
    trace = trace_of(size)
    words = words_of(trace)
    looked_up, certain = (mind_at(hints(words, size), depth) for depth in (LOOKED_UP, COMPARED))
    phase = ""
    seen = 0
    for newline, (_, after) in list(states.items())[:300]:
        end = len(trace.prompt) + newline
        start = max(place for place in range(end) if words[place] == "\n") + 1
        line = " ".join(words[start:end])
        phase = line if line.startswith("PHASE") else phase
        if not (relation := re.match("PHASE 2: Handling relation (.+) [A-Z]+ (.+)", phase)):
            continue
        for value, place in zip(relation.groups(), (end, end - 1), strict=True):
            if value in after.layout.place_of:
                seen += 1
                for at in range(size):
                    assert looked_up[place][house(at)] == (not after.can_hold(value, at))
                    assert certain[place][house(at)] == (after.pinned(value) == at)
    assert seen


def test_the_last_words_of_a_first_phase_know_its_categories() -> None:
    words = words_of(trace_of(3))
    looked_up = mind_at(hints(words, 3), LOOKED_UP)
    categories = Layout.of(3).categories
    heading = words.index("1:") - 1
    end = words.index("\n", heading)
    expected = {category.name: bool(set(category.values) & set(words[heading:end])) for category in categories}
    for place in range(end - 3, end):
        assert looked_up[place] | expected == looked_up[place]


@SIZES
@pytest.mark.parametrize("index", range(3))
@pytest.mark.parametrize(("layers", "stage"), [(ENOUGH - 1, COMPARED), (ENOUGH, WEIGHED)])
def test_the_houses_of_a_first_phase_call_for_its_next_line(size: int, index: int, layers: int, stage: int) -> None:
    words = words_of(trace_of(size, index))
    compared = mind_at(hints(words, size, layers), stage)
    ends = [place for place, word in enumerate(words) if word == "\n"]
    following: list[str] = []
    for start, end in pairwise(ends):
        line = words[start + 1 : end]
        if line[:2] == ["PHASE", "1:"] or line[-2:] in (["another", "house"], ["appear", "here"]):
            known = [compared.get(place, {}) for place in range(start, end)]
            called_for = {sign for mind in known for sign in SIGNS if mind.get(sign)}
            first = next((sign for sign in SIGNS if sign in called_for), "PHASE")
            following.append(words[end + 1])
            assert following[-1] == {"Since": "Removing", "Placing": "Forcing"}.get(first, first)
    assert {"Removing", "PHASE"} <= set(following)


@SIZES
@pytest.mark.parametrize("index", range(3))
def test_with_layers_enough_a_house_looks_for_others_that_can_hold_what_it_has(size: int, index: int) -> None:
    words = words_of(trace_of(size, index))
    found = hints(words, size, ENOUGH)
    out, certain = (mind_at(found, depth) for depth in (LOOKED_UP, STEPWISE[COMPARED]))
    values = [{value.split()[-1] for value in category.values} for category in Layout.of(size).categories]
    rivals = removed = 0
    for hint in found:
        if hint.depth == WEIGHED and set(hint.looks) >= set(range(size)):
            if size in hint.looks:
                removed += 1
                [place] = hint.looks[size]
                assert "Removing" in words[place - 2 : place]
            for head in range(size):
                places = hint.looks[head]
                has = {value for value in values[head] if certain[hint.place][value]}
                assert len(has) <= 1
                if places != NOWHERE:
                    rivals += 1
                    assert all(not out[place][value] for place in places for value in has)
    assert rivals
    assert removed


@SIZES
@pytest.mark.parametrize("index", range(3))
def test_with_layers_enough_heads_share_the_search_for_what_no_other_house_can_hold(size: int, index: int) -> None:
    found = hints(words_of(trace_of(size, index)), size, ENOUGH)
    out, asked = mind_at(found, LOOKED_UP), 0
    for hint in found:
        if hint.depth == STEPWISE[CERTAIN] and set(hint.looks) == set(range(size + 1)):
            [at] = hint.looks[size]
            others = hint.looks[0]
            assert all(hint.looks[head] == others for head in range(size))
            assert len(others) == size - 1
            assert len(hint.mind) in (size, 2 * size)  # the values of the clue's categories
            for value, only_here in hint.mind.items():
                assert only_here == (not out[at][value] and all(out[place][value] for place in others))
            asked += 1
    assert asked


@SIZES
def test_with_layers_enough_a_second_phase_knows_where_only_one_of_its_values_can_be(
    size: int, states: dict[int, tuple[State, State]]
) -> None:
    trace = trace_of(size)
    words = words_of(trace)
    differing = mind_at(hints(words, size, ENOUGH), WEIGHED)
    seen, phase = 0, ""
    for newline, (_, after) in states.items():
        end = len(trace.prompt) + newline
        start = max(place for place in range(end) if words[place] == "\n") + 1
        line = " ".join(words[start:end])
        phase = line if line.startswith("PHASE") else phase
        relation = re.match("PHASE 2: Handling relation (.+) [A-Z]+ (.+)", phase)
        if relation and all(value in after.layout.place_of for value in relation.groups()):
            first, second = relation.groups()
            seen += 1
            for at in range(size):
                assert differing[end][house(at)] == (after.can_hold(first, at) != after.can_hold(second, at))
    assert seen


@pytest.mark.parametrize(("size", "count"), [(4, 6), (5, 3)])
def test_a_branch_is_known_before(size: int, count: int) -> None:
    branches = tries = ends = 0
    for index in range(count):
        words = words_of(trace_of(size, index))
        found = hints(words, size)
        out, left, decided = (mind_at(found, depth) for depth in (LOOKED_UP, CERTAIN, DECIDED))
        for place, word in enumerate(words[:-3]):
            in_mind = {word for word, holds in decided.get(place, {}).items() if holds}
            if words[place - 1 : place + 1] == ["Branching", "on"]:
                branches += 1
                assert in_mind == {words[place + 1], words[words.index("category", place) - 1]}
                assert decided[place + 1] == decided[place]
            elif word == "possibility":
                tries += 1
                assert in_mind == {words[words.index("in", place) - 1]}
                assert not any(out[place][value] for value in in_mind)
                assert all(left[place][value] for value in in_mind)
            elif words[place - 3 : place + 1] == ["No", "Solution", "[RETURN]", "\n"]:
                ends += words[place + 1] == "[SEP]"
                assert bool(in_mind) == any(left[place].values()) == (words[place + 1] == "Trying")
    assert branches
    assert tries > branches
    assert ends


@SIZES
@pytest.mark.parametrize("index", range(3))
def test_the_next_clue_is_known_before_it_is_applied(size: int, index: int) -> None:
    words = words_of(trace_of(size, index))
    known = mind_at(hints(words, size), LOOKED_UP)
    seen = 0
    for place, clue in enumerate(words[2:]):
        if words[place + 1] == "Applying" and words[place - 2] != "Propagation":
            seen += 1
            assert [name for name, holds in known[place].items() if holds and name.startswith("Constraint#")] == [clue]
    assert seen


@SIZES
@pytest.mark.parametrize("index", range(3))
def test_changes_are_known_before_they_are_summed_up(size: int, index: int) -> None:
    words = words_of(trace_of(size, index))
    found = hints(words, size)
    categories, houses = mind_at(found, COMPARED), mind_at(found, DECIDED)
    seen = 0
    for place, word in enumerate(words[:-5]):
        if "changed" in words[place + 2 : place + 6] and words[place + 1].startswith("House#"):
            seen += 1
            where, *category = words[place + 1 : words.index("category", place)]
            assert categories[place][category[-1]]
            assert min(name for name, holds in houses[place].items() if holds) == where
        elif word == "[SEP]" and words[place + 1 : place + 3] == ["No", "changes"]:
            assert not any(categories[place].values())
    assert seen


@SIZES
def test_with_layers_enough_the_owner_is_known_before_it_is_named(size: int) -> None:
    words = words_of(trace_of(size))
    place = len(words) - 6
    assert words[place - 1 : place + 1] == ["=>", "the"]
    known = mind_at(hints(words, size, ENOUGH), LOOKED_UP)[place]
    assert [name for name, out in known.items() if not out] == [words[place + 1]]
    assert place not in mind_at(hints(words, size, ENOUGH - 1), LOOKED_UP)


def test_a_line_is_noted_where_it_has_named_its_house() -> None:
    prompt = "<|startoftext|> Constraint#1 : the Brit is the same house as the one who keeps Fish <|endofprompt|>"
    heading = "PHASE 1: Single-value logic for Brit and Fish under SAME constraint"
    line = "Placing Fish in House#2 since Brit is in this house"
    words = f"{prompt} Applying Constraint#1 [CALL] \n {heading} \n {line} \n [SEP]".split(" ")
    noted = mind_at(hints(words, 3), NOTED)
    assert [words[place] for place in noted] == ["House#2"]
    assert {word for word, holds in noted[words.index("House#2")].items() if holds} == {"House#2", "Birds", "Dogs"}


def test_a_line_is_decided_at_the_end_of_the_one_before() -> None:
    trace = trace_of(3)
    words = words_of(trace)
    seen = 0
    decided = mind_at(hints(words, 3), DECIDED)
    for place in [place for place in decided if words[place] == "\n"]:
        line, mind = words[place + 1 : words.index("\n", place + 1)], decided[place]
        in_mind = {word for word, holds in mind.items() if holds}
        if line[0] in ("Removing", "Placing", "Forcing"):
            in_a_first_phase = line[0] == "Forcing" or line[-2:] == ["another", "house"]
            assert in_mind == ({line[1], line[0]} if in_a_first_phase else {line[1], line[3]})
            seen += 1
        elif line[0] == "PHASE":
            assert in_mind == {"PHASE"}
        elif line[0] == "[SEP]":
            assert not in_mind
    assert seen


def test_the_cells_that_are_printed_are_known_before() -> None:
    words = words_of(trace_of(3))
    known = mind_at(hints(words, 3), LOOKED_UP)
    printed = 0
    for place, (category, word, verb, value) in enumerate(zip(words, words[1:], words[2:], words[3:], strict=False)):
        if word == "category" and verb == "is":
            printed += 1
            out = known[place + 1]
            assert [name for name in out if not out[name]] == [value], category
    assert printed


@SIZES
@pytest.mark.parametrize("index", range(3))
def test_the_clues_of_a_list_are_known_before(size: int, index: int) -> None:
    words = words_of(trace_of(size, index))
    known, decided = (mind_at(hints(words, size), depth) for depth in (LOOKED_UP, DECIDED))
    lists = [place for place, word in enumerate(words) if word == "Unsatisfied"]
    assert lists
    for start in lists:
        end = next(place for place in range(start, len(words)) if words[place] in ("\n", "[RETURN]"))
        for place in range(start + 2, end):
            assert [clue for clue, is_open in known[place].items() if is_open] == words[start + 3 : end]
            assert [clue for clue, is_next in decided[place].items() if is_next] == words[place + 1 : end][:1]


@SIZES
@pytest.mark.parametrize("index", range(3))
def test_with_layers_enough_each_clue_of_a_list_is_found_by_the_one_before(size: int, index: int) -> None:
    words = words_of(trace_of(size, index))
    found = hints(words, size, ENOUGH)
    known, decided = mind_at(found, LOOKED_UP), mind_at(found, DECIDED)
    looks = {(hint.place, hint.depth): hint.looks for hint in found if hint.looks}

    def named(place: int) -> list[str]:
        """The clue that a word after a deduction is about."""
        return [clue for clue, is_open in known[place].items() if is_open]

    followed = 0
    for start in [place for place, word in enumerate(words) if word == "Propagation" and words[place - 1] == "After"]:
        start = words.index("are", start)
        end = words.index("[RETURN]", start)
        before: Sequence[int] = NOWHERE
        for place in range(start, end):
            assert [clue for clue, is_next in decided[place].items() if is_next] == words[place + 1 : end][:1]
            [found_at] = looks[place, STEPWISE[COMPARED]].values()
            if place + 1 < end:
                followed += 1
                assert named(found_at[0]) == [words[place + 1]]
                assert list(looks[found_at[0], STEPWISE[CERTAIN]].values()) == [before]
            else:
                assert found_at == NOWHERE
            before = found_at
    assert followed


@SIZES
def test_with_layers_enough_the_house_of_a_first_phase_is_found_where_it_was_looked_up(size: int) -> None:
    words = words_of(trace_of(size))
    known = mind_at(hints(words, size, ENOUGH), WEIGHED)
    lines = [place for place, word in enumerate(words) if word == "pinned" and words[place + 2] == "another"]
    assert lines
    for place in lines:
        at = max(where for where in range(place) if words[where] == "from")
        assert [where for where, holds in known[at].items() if holds] == [words[at + 1]]


@SIZES
@pytest.mark.parametrize("index", range(3))
@pytest.mark.parametrize("layers", [ENOUGH - 1, ENOUGH])
def test_hints_are_the_same_from_any_point_on(size: int, index: int, layers: int) -> None:
    trace = trace_of(size, index)
    whole = hints(words_of(trace), size, layers)
    returns = [place for place, word in enumerate(trace.generated) if word == "[RETURN]"]
    failed = [place for place in returns if trace.generated[place - 1] == "Solution"]
    for start in [place + 1 for place in (Random(index).choice(returns), *failed[:1])]:
        live = Context(trace.prompt, trace.marks)
        live.extend(trace.generated[:start])
        context, rest = list(live), trace.generated[start : start + 400]
        stretch = hints([*context, *rest], size, layers)
        shift = len(trace.prompt) + start - len(context)
        for depth in {hint.depth for hint in whole}:
            full, part = mind_at(whole, depth), mind_at(stretch, depth)
            last = len(context) + len(rest) - 100  # the line after is not known at the end
            expected = {place - shift: mind for place, mind in full.items() if len(context) <= place - shift < last}
            assert {place: mind for place, mind in part.items() if len(context) <= place < last} == expected


@SIZES
@pytest.mark.parametrize("index", range(3))
@pytest.mark.parametrize("layers", [ENOUGH - 1, ENOUGH])
def test_no_hint_looks_at_a_later_word(size: int, index: int, layers: int) -> None:
    for hint in hints(words_of(trace_of(size, index)), size, layers):
        assert all(place <= hint.place for places in hint.looks.values() for place in places)


@SIZES
@pytest.mark.parametrize("frames", [0, 2])
def test_what_is_looked_at_can_be_seen(size: int, frames: int) -> None:
    config = DataConfig("einstein", {size: 1.0}, stretch=300, window=4_096)
    data = Data(config, frames=frames, outermost=True, layers=ENOUGH)
    for index in range(3):
        packed = data.packed(index)
        sees = packed.sees()
        assert len(packed.hints.looks)
        for target, _, _, seen in packed.hints.looks:
            assert sees[packed.inputs[target], seen]
