"""The live line of a training run, on stderr."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console
from rich.live import Live
from rich.text import Text

if TYPE_CHECKING:
    from pencil.train.meter import Report

QUIET_SECONDS = 30
"""Time between lines where stderr is no terminal."""


class Line:
    """Tells where a run stands: all the time on a terminal, else now and then."""

    def __init__(self, name: str, console: Console, live: Live | None) -> None:
        self.name, self.console, self.live = name, console, live
        self.last = float("-inf")

    def report(self, report: "Report") -> None:
        """Show where the run stands."""
        self.show(describe(report))
        late = time.monotonic() - self.last >= QUIET_SECONDS
        if self.live is None and (late or report.step == report.steps):
            self.last = time.monotonic()
            self.say(f"{self.name}: {describe(report)}")

    def show(self, text: str) -> None:
        """What happens right now, on a terminal."""
        if self.live is not None:
            self.live.update(Text(f"{self.name}: {text}"))

    def say(self, text: str) -> None:
        """Something that stays, above the line."""
        self.console.print(text, soft_wrap=True)


@contextmanager
def live_line(name: str) -> Iterator[Line]:
    """The line of a run; of many processes under `torchrun`, only the first one speaks."""
    follows = os.environ.get("RANK", "0") != "0"
    console = Console(stderr=True, highlight=False, markup=False, quiet=follows)
    if not console.is_terminal:
        yield Line(name, console, None)
        return
    with Live(Text(f"{name}: starting"), console=console, refresh_per_second=4) as live:
        yield Line(name, console, live)


def describe(report: "Report") -> str:
    """Where a run stands, how well it does, how fast it is."""
    steps = "?" if report.steps is None else f"{report.steps:,}"
    return (
        f"step {report.step:,} of {steps}, loss {report.loss:.4f}, next token {report.accuracy:.2%},"
        f" {report.tokens_per_second:,.0f} tokens/s, data wait {report.data_wait:.0%}, {_left(report.seconds_left)}"
    )


def _left(seconds: float | None) -> str:
    if seconds is None:
        return "measuring the speed"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02} left" if hours else f"{minutes}:{rest:02} left"
