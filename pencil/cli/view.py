"""Watching a trace: thoughts appear, fold away when they return, and bars compare what is held with what was said."""

import time
from collections.abc import Iterable, Sequence

from rich.bar import Bar
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from pencil.rule import Context, Reduction
from pencil.tokens import CALL, RETURN, SEP, join

MARK, ERASED, KEPT = "bold magenta", "strike red", "bold green"
MARGIN = 12  # lines of the terminal that are not the context
FRAMES_A_SECOND = 30
FOLDING_PAUSES = 40  # a reduction is shown as long as this many words


class ThinkingView:
    """The live context of one trace, drawn to a terminal, or told line by line where there is none."""

    def __init__(self, prompt: Sequence[str], expected: int, console: Console) -> None:
        self.context: Context[str] = Context(prompt)
        self.expected = expected
        """How long the whole trace will be: the length of the longer bar."""
        self.said = self.prompt = len(prompt)
        self.console = console

    def play(self, words: Sequence[str], seconds: float) -> None:
        """Show the words as if they were being thought, in about this many seconds."""
        if not self.console.is_terminal:
            self._tell(words)
            return
        pause = seconds / (len(words) + FOLDING_PAUSES * words.count(RETURN))
        stride = max(1, round(1 / FRAMES_A_SECOND / max(pause, 1e-6)))  # tokens between two frames
        with Live(console=self.console, auto_refresh=False, transient=True) as live:
            for index, word in enumerate(words):
                reduction = self._append(word)
                if reduction is not None:
                    live.update(self._frame(self._folding(reduction), reduction.end + 1), refresh=True)
                    time.sleep(FOLDING_PAUSES * pause)
                if index % stride == 0 or reduction is not None:
                    live.update(self._frame(self._body()), refresh=True)
                time.sleep(pause)
            live.update(self._frame(self._body()), refresh=True)

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

    def _frame(self, body: Text, held: int | None = None) -> RenderableType:
        width, height = self.console.size
        room = max(4, height - MARGIN)
        lines = body.wrap(self.console, width - 4)[-room:]
        title = f"live context, depth {self.context.depth}"
        return Group(
            Panel(Text("\n").join(lines), title=title, title_align="left", height=room + 2),
            self._bars(held or len(self.context)),
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
            bars.add_row(label, Bar(self.expected, 0, length, color=colour), size)
        return bars
