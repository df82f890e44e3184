from io import StringIO

import pytest
from rich.console import Console

from pencil import get_task
from pencil.cli.view import ThinkingView
from tests.cli.conftest import RunPencil


@pytest.mark.parametrize("name", ["sat", "qbf", "einstein"])
def test_the_demo_ends_with_the_answer_and_the_sizes(pencil: RunPencil, name: str) -> None:
    shown = " ".join(pencil("demo", "--task", name, "--size", 3).out.split())
    task = get_task(name, 3)
    trace = task.trace(task.draw(0))
    assert str(task.answer(trace.final)) in shown
    assert f"Thought {len(trace):,} tokens and never held more than {trace.stats().peak:,}" in shown


def test_it_plays_for_about_as_long_as_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []
    monkeypatch.setattr("pencil.cli.view.time.sleep", slept.append)
    task = get_task("qbf", 3)
    trace = task.trace(task.draw(0))
    screen = Console(file=StringIO(), force_terminal=True)
    ThinkingView(trace.prompt, len(trace), screen).play(trace.generated, seconds=10)
    assert sum(slept) == pytest.approx(10)


def test_a_terminal_sees_thoughts_fold_away() -> None:
    task = get_task("sat", 3)
    trace = task.trace(task.draw(0))
    screen = Console(file=StringIO(), force_terminal=True, width=100, height=40)
    ThinkingView(trace.prompt, len(trace), screen).play(trace.generated, seconds=0)
    assert isinstance(screen.file, StringIO)
    drawn = screen.file.getvalue()
    assert "live context" in drawn
    assert "chain of thought" in drawn
    assert "\x1b[9;31m[CALL]" in drawn  # struck out, in red
