import pytest

from pencil.rule import Context
from pencil.tasks import get_task
from pencil.tasks.einstein.instance import house
from pencil.tasks.einstein.reading import Reader, joined
from pencil.tasks.einstein.state import Layout, State


def open_clues(reader: Reader) -> set[str]:
    return set(reader.open_clues.listed) - set(reader.open_clues.removed)


@pytest.mark.parametrize("size", [3, 4, 5])
def test_what_is_left_is_what_the_reasoner_has_left(size: int, states: dict[int, tuple[State, State]]) -> None:
    task = get_task("einstein", size)
    trace = task.trace(task.draw(2))
    reader = Reader(Layout.of(size))
    compared = 0
    for word, place in joined([*trace.prompt, *trace.generated], Layout.of(size)):
        reader.read(word, place)
        newline = place - len(trace.prompt)
        if newline in states:
            compared += 1
            _, state = states[newline]
            for at in range(size):
                possible = {value for value in reader.category_of if state.can_hold(value, at)}
                assert reader.left(house(at), place) == possible
    assert compared == len(states)


@pytest.mark.parametrize("size", [3, 5])
def test_a_live_context_says_as_much_as_the_trace_up_to_there(size: int) -> None:
    task = get_task("einstein", size)
    trace = task.trace(task.draw(3))
    returns = [place for place, word in enumerate(trace.generated) if word == "[RETURN]"]
    for start in returns[:: max(1, len(returns) // 10)]:
        live = Context(trace.prompt, trace.marks)
        live.extend(trace.generated[: start + 1])
        readers = []
        for words in ([*trace.prompt, *trace.generated[: start + 1]], list(live)):
            reader = Reader(Layout.of(size))
            for word, place in joined([*words, "\n"], Layout.of(size)):
                reader.read(word, place)
            readers.append(reader)
        whole, part = readers
        for where in whole.houses:
            assert whole.left(where, 10**9) == part.left(where, 10**9)
        assert open_clues(whole) == open_clues(part)
