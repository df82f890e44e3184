from collections.abc import Iterator
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from pencil import get_task, load
from pencil.cli import view
from pencil.cli.view import ThinkingView, pause_for, watch
from pencil.trace import Trace


def sample_trace(name: str) -> Trace[str]:
    task = get_task(name, 3)
    return task.trace(task.draw(0))


def terminal() -> Console:
    return Console(file=StringIO(), force_terminal=True, width=100, height=40)


def drawn(screen: Console) -> str:
    assert isinstance(screen.file, StringIO)
    return screen.file.getvalue()


class Clock:
    """Time that passes only where somebody sleeps."""

    now = 0.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


def test_it_plays_for_about_as_long_as_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    monkeypatch.setattr(view, "time", clock)
    trace = sample_trace("qbf")
    ThinkingView(trace.prompt, terminal()).play(trace.generated, pause_for(trace.generated, seconds=10))
    assert clock.now == pytest.approx(10)


def test_a_slow_thinker_is_not_slowed_down(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    monkeypatch.setattr(view, "time", clock)

    def thinker() -> Iterator[str]:
        for word in ("a", "b", "c", "d"):
            clock.sleep(2)
            yield word

    ThinkingView((), terminal()).play(thinker(), pause=0.5)
    assert clock.now == 8


def test_a_terminal_sees_thoughts_fold_away() -> None:
    trace, screen = sample_trace("sat"), terminal()
    ThinkingView(trace.prompt, screen, len(trace)).play(trace.generated, pause=1e-6)
    assert "live context" in drawn(screen)
    assert "chain of thought" in drawn(screen)
    assert "\x1b[9;31m[CALL]" in drawn(screen)  # struck out, in red


def test_a_chain_of_thought_keeps_all() -> None:
    trace = sample_trace("sat")
    shown = ThinkingView(trace.prompt, Console(file=StringIO()), erases=False)
    shown.play(trace.generated)
    assert len(shown.context) == shown.said == len(trace)


def test_watching_a_model_gives_its_solution(parrots: Path) -> None:
    solver = load(parrots / "sat")
    instance = solver.task.parse("( 1 ∨ 2 ) ∧ ( ¬ 1 )")
    watched, alone = watch(solver, instance, terminal()), solver.solve(instance)
    assert (watched.answer, watched.text) == ("True", alone.text)
    assert watched.stopped.generated == alone.stopped.generated


def test_showing_takes_none_of_the_time_that_is_told(parrots: Path) -> None:
    solver = load(parrots / "sat")
    instance = solver.task.parse("( 1 ∨ 2 ) ∧ ( ¬ 1 )")
    alone = solver.solve(instance).stopped.seconds
    watched = watch(solver, instance, terminal(), pause=0.02)  # a second or more in all
    assert watched.stopped.seconds < 0.5 + 5 * alone
