"""The live line of a training run, on stderr."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console
from rich.live import Live
from rich.text import Text

if TYPE_CHECKING:
    from pencil.train.meter import Report

QUIET_SECONDS = 30
"""Time between lines where stderr is no terminal."""


@contextmanager
def live_line(name: str) -> Iterator[tuple[Callable[["Report"], None], Callable[[str], None]]]:
    """Gives a function that shows where a run stands, and one that says something above it.

    Of many processes under `torchrun`, only the first one speaks.
    """
    console = Console(stderr=True, highlight=False, quiet=os.environ.get("RANK", "0") != "0")
    if not console.is_terminal:
        yield _lines_now_and_then(name, console), console.print
        return
    with Live(Text(f"{name}: starting"), console=console, refresh_per_second=4) as live:
        yield lambda report: live.update(Text(describe(name, report))), live.console.print


def _lines_now_and_then(name: str, console: Console) -> Callable[["Report"], None]:
    last = float("-inf")

    def show(report: "Report") -> None:
        nonlocal last
        if time.monotonic() - last >= QUIET_SECONDS or report.step == report.steps:
            last = time.monotonic()
            console.print(describe(name, report), soft_wrap=True)

    return show


def describe(name: str, report: "Report") -> str:
    """One line: where the run stands, how well it does, how fast it is."""
    steps = "?" if report.steps is None else f"{report.steps:,}"
    return (
        f"{name}: step {report.step:,} of {steps}, loss {report.loss:.4f}, next token {report.accuracy:.2%},"
        f" {report.tokens_per_second:,.0f} tokens/s, data wait {report.data_wait:.0%}, {_left(report.seconds_left)}"
    )


def _left(seconds: float | None) -> str:
    if seconds is None:
        return "measuring the speed"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02} left" if hours else f"{minutes}:{rest:02} left"
