import pytest

import pencil.tasks.einstein.reason as reason
from pencil.tasks.einstein.instance import Clue
from pencil.tasks.einstein.propagate import Say, apply_clue
from pencil.tasks.einstein.state import State


@pytest.fixture
def states(monkeypatch: pytest.MonkeyPatch) -> dict[int, tuple[State, State]]:
    """What is possible before and after each line of a deduction, by the place of its newline in what is generated."""
    states: dict[int, tuple[State, State]] = {}

    def recording(clue: Clue, state: State, say: Say) -> list[str]:
        before = state.copy()

        def say_and_record(line: str) -> None:
            nonlocal before
            say(line)
            after = state.copy()
            states[len(say.__self__.write.words) - 1] = before, after  # type: ignore[attr-defined]
            before = after

        return apply_clue(clue, state, say_and_record)

    monkeypatch.setattr(reason, "apply_clue", recording)
    return states
