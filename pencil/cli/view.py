"""Watching a trace: thoughts appear, fold away when they return, and bars compare what is held with what was said."""

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rich.bar import Bar
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from pencil.generate.events import Stopped, Token
from pencil.rule import Context, Reduction
from pencil.tokens import CALL, RETURN, SEP, WORD_MARKS, Marks, join

if TYPE_CHECKING:
    from pencil.generate.solver import Solution, Solver

MARK, ERASED, KEPT = "bold magenta", "strike red", "bold green"
MARGIN = 12  # lines of the terminal that are not the context
FRAMES_A_SECOND = 30
FOLDING_PAUSES = 40  # a reduction is shown as long as this many words
NO_MARKS = Marks("", "", "")  # which no trace holds, so that nothing is erased


def pause_for(words: Sequence[str], seconds: float) -> float:
    """How long to show each word so that a whole trace takes this long."""
    return seconds / (len(words) + FOLDING_PAUSES * words.count(RETURN))


def watch(
    solver: "Solver", instance: Any, console: Console, expected: int | None = None, pause: float = 0.0
) -> "Solution":
    """Show a model think; what it came to, with the seconds that it took without those spent on showing."""
    stops: list[Stopped] = []
    erases = solver.checkpoint.format == "pencil"
    view = ThinkingView(solver.task.prompt(instance), console, expected, erases=erases)
    view.play(_words_said(solver, instance, stops), pause)
    return solver.read(stops[0])


def _words_said(solver: "Solver", instance: Any, stops: list[Stopped]) -> Iterator[str]:
    """The words of a model as they come; how it stopped goes to `stops`."""
    began, shown = time.monotonic(), 0.0
    for event in solver.stream(instance):
        if isinstance(event, Token):
            said = time.monotonic()
            yield solver.vocab.words[event.id]
            shown += time.monotonic() - said
        elif isinstance(event, Stopped):
            stops.append(replace(event, seconds=time.monotonic() - began - shown))


class ThinkingView:
    """The live context of one trace, drawn to a terminal, or told line by line where there is none."""

    def __init__(
        self, prompt: Sequence[str], console: Console, expected: int | None = None, *, erases: bool = True
    ) -> None:
        self.context: Context[str] = Context(prompt, WORD_MARKS if erases else NO_MARKS)
        self.expected = expected
        """How long the whole trace will be, if known: the length of the longer bar."""
        self.said = self.prompt = len(prompt)
        self.console = console

    def play(self, words: Iterable[str], pause: float = 0.0) -> None:
        """Show words as they come, no faster than one in each pause."""
        if not self.console.is_terminal:
            self._tell(words)
            return
        with Live(console=self.console, auto_refresh=False, transient=True) as live:
            ready, drawn = time.monotonic(), float("-inf")
            for word in words:
                reduction = self._append(word)
                pauses = 1 if reduction is None else 1 + FOLDING_PAUSES
                if time.monotonic() - drawn >= 1 / FRAMES_A_SECOND or (reduction and pause):
                    live.update(self._frame(reduction), refresh=True)
                    drawn = time.monotonic()
                time.sleep(max(0.0, ready + pauses * pause - time.monotonic()))
                ready = time.monotonic()
            live.update(self._frame(), refresh=True)

    def _tell(self, words: Iterable[str]) -> None:
        """Without a terminal: one line for each reduction."""
        for word in words:
            reduction = self._append(word)
            if reduction is not None:
                kept = join(reduction.answer).replace("\n", "")
                self.console.print(
                    f"said {self.said:>7,}  held {reduction.end + 1:>6,} -> {len(self.context):>6,}  {kept}",
                    overflow="ellipsis",
                    no_wrap=True,
                    markup=False,
                    highlight=False,
                )

    def _append(self, word: str) -> Reduction[str] | None:
        self.said += 1
        return self.context.append(word)

    def _body(self) -> Text:
        """The live context after the prompt, with its marks in colour."""
        words = self.context[self.prompt :]
        text = Text(join(words))
        text.highlight_words((CALL, SEP, RETURN), MARK)
        return text

    def _folding(self, reduction: Reduction[str]) -> Text:
        """The moment of a reduction: the thought struck out, the answer bright."""
        context = join(self.context[self.prompt : reduction.kept])
        thought = join((CALL, *reduction.thought, SEP))
        return Text.assemble(
            context, " ", (thought, ERASED), " ", (join(reduction.answer), KEPT), " ", (RETURN, ERASED)
        )

    def _frame(self, reduction: Reduction[str] | None = None) -> RenderableType:
        """The context as it is, or at the moment of a reduction."""
        body = self._body() if reduction is None else self._folding(reduction)
        held = len(self.context) if reduction is None else reduction.end + 1
        width, height = self.console.size
        room = max(4, height - MARGIN)
        lines = body.wrap(self.console, width - 4)[-room:]
        title = f"live context, depth {self.context.depth}"
        return Group(
            Panel(Text("\n").join(lines), title=title, title_align="left", height=room + 2),
            self._bars(held),
        )

    def _bars(self, held: int) -> Table:
        bars = Table.grid(padding=(0, 1), expand=True)
        bars.add_column(width=17)
        bars.add_column(ratio=1)
        bars.add_column(width=16, justify="right")
        rows = [
            ("live context", held, "green", f"{held:,} tokens"),
            ("longest so far", self.context.peak, "yellow", f"{self.context.peak:,} tokens"),
            ("chain of thought", self.said, "red", f"{self.said:,} tokens"),
        ]
        for label, length, colour, size in rows:
            bars.add_row(label, Bar(max(self.expected or 0, self.said), 0, length, color=colour), size)
        return bars
