import re

import pytest

from pencil.tasks import get_task
from pencil.tasks.einstein.first_phase import FirstPhase
from pencil.tasks.einstein.reading import Reader, joined
from pencil.tasks.einstein.state import Layout

FIRST_PHASE = re.compile("PHASE 1:|Forcing|.*is pinned in another house")


@pytest.mark.parametrize("size", [3, 4, 5])
@pytest.mark.parametrize("index", range(6))
def test_what_comes_next_is_known(size: int, index: int) -> None:
    task = get_task("einstein", size)
    trace = task.trace(task.draw(1, index))
    reader = Reader(Layout.of(size))
    moves: dict[str, dict[str, set[str]]] = {}
    done = set()
    for word, place in joined([*trace.prompt, *trace.generated], Layout.of(size)):
        reader.read(word, place)
        if word != "\n":
            continue
        if moves:
            verb, value, _, where = reader.line[:4]
            if verb == "PHASE":
                assert not any(values for by_house in moves.values() for values in by_house.values())
            elif verb == "Removing":
                assert any(value in values for house, values in moves[verb].items() if house != where)
                done.add(verb)
            else:
                assert value in moves[verb][where]
        moves = {}
        if FIRST_PHASE.match(" ".join(reader.line)):
            phase = FirstPhase(reader, {where: reader.left(where, place) for where in reader.houses})
            moves = {"Removing": phase.spreading(), "Forcing": phase.forceable()}
    assert "Removing" in done
