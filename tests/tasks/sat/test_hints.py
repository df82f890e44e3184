from random import Random

import pytest

from pencil.rule import Context
from pencil.tasks import get_task
from pencil.tasks.sat.hints import FOUND, MATCHED, SKIPPED, hints
from pencil.trace import Trace
from pencil.train.config import DataConfig
from pencil.train.data import Data

SIZES = pytest.mark.parametrize("size", [3, 5, 10])


def trace_of(size: int, index: int = 0) -> Trace[str]:
    task = get_task("sat", size)
    trace: Trace[str] = task.trace(task.draw(1, index))
    return trace


def looks_at(words: list[str], depth: int, head: int = 0) -> dict[int, list[int]]:
    """For each word, where a head of a depth looks."""
    return {hint.place: list(hint.looks[head]) for hint in hints(words) if hint.depth == depth and head in hint.looks}


def last_bracket(words: list[str], end: int) -> int:
    return max(place for place in range(end) if words[place] == "(")


@SIZES
@pytest.mark.parametrize("index", range(5))
def test_what_is_said_next_is_where_one_looks(size: int, index: int) -> None:
    trace = trace_of(size, index)
    words = [*trace.prompt, *trace.generated]
    found = looks_at(words, FOUND)
    asked = [place for place in range(len(trace.prompt), len(words)) if words[place] in ("(", "Found", "Try")]
    assert asked
    for place in asked:
        assert {words[seen] for seen in found[place]} == {words[place + 1]}


@SIZES
def test_a_clause_ends_where_one_looks_at_its_source(size: int) -> None:
    trace = trace_of(size)
    words = [*trace.prompt, *trace.generated]
    for place, [seen] in looks_at(words, MATCHED).items():
        if words[place] == ")":
            own, source = (set(words[last_bracket(words, end) : end]) for end in (place, seen))
            assert own <= source


def test_what_is_skipped_is_true_and_what_is_false_goes() -> None:
    question = "( 1 ∨ 2 ) ∧ ( ¬ 1 ∨ 3 ) ∧ ( 2 ∨ 3 )"
    words = f"<|startoftext|> {question} <|endofprompt|> [CALL] Question: {question} Try 1 = True [CALL] Question: ("
    listed = words.split()
    last = len(listed) - 1
    [skipped], [false] = (looks_at(listed, SKIPPED, head)[last] for head in (0, 1))
    start = listed.index("Question:")
    assert listed[start:][: skipped - start + 1] == ["Question:", "(", "1"]
    assert listed[false - 1 : false + 1] == ["¬", "1"]
    assert false > start


def test_an_assignment_knows_whether_it_decides() -> None:
    question = "( ¬ 1 ) ∧ ( 1 ∨ 2 )"
    for value, expected in (("True", {"False": True, "True": False}), ("False", {"False": False, "True": False})):
        words = f"{question} <|endofprompt|> [CALL] Question: {question} Let 1 = {value}".split()
        assert hints(words)[-1].mind == expected
    words = "( ¬ 1 ) <|endofprompt|> [CALL] Question: ( ¬ 1 ) Let 1 = False".split()
    assert hints(words)[-1].mind == {"False": False, "True": True}


@SIZES
@pytest.mark.parametrize("index", range(3))
def test_hints_are_the_same_from_any_point_on(size: int, index: int) -> None:
    trace = trace_of(size, index)
    returns = [place for place, word in enumerate(trace.generated) if word == "[RETURN]"]
    start = Random(index).choice(returns) + 1
    live = Context(trace.prompt, trace.marks)
    live.extend(trace.generated[:start])
    context, rest = list(live), trace.generated[start:]
    whole = [*trace.prompt, *trace.generated]
    shift = len(whole) - len(context) - len(rest)
    expected = [(hint.place - shift, hint.depth, hint.mind) for hint in hints(whole)]
    found = [(hint.place, hint.depth, hint.mind) for hint in hints([*context, *rest])]
    assert [hint for hint in found if hint[0] >= len(context)] == [hint for hint in expected if hint[0] >= len(context)]


@SIZES
def test_what_is_looked_at_can_be_seen(size: int) -> None:
    data = Data(DataConfig("sat", {size: 1.0}, window=4_096))
    for index in range(3):
        packed = data.packed(index)
        sees = packed.sees()
        assert len(packed.hints.looks)
        for target, _, _, seen in packed.hints.looks:
            assert sees[packed.inputs[target], seen]
