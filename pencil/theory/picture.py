"""The tape over time as a picture: time goes down, a column is a cell.

>>> from pencil.theory.machines import load
>>> history = record_tape(load("bb2"), rows=7)
>>> print(draw_tape(history, width=40))
0 A     [_]
1 B      1[_]
2 A     [1]1
3 B   [_]1 1
4 A [_]1 1 1
5 B  1[1]1 1
6 H  1 1[1]1
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.style import Style
from rich.text import Text

from pencil.errors import PencilError
from pencil.theory.turing import Simulation, TuringMachine


@dataclass(frozen=True)
class Snapshot:
    """The tape at one time."""

    step: int
    state: str
    head: int
    low: int
    codes: bytes
    """From cell `low` on, each symbol as its place in the machine's alphabet."""


@dataclass(frozen=True)
class TapeHistory:
    """Snapshots at even distances, and the last one."""

    machine: TuringMachine
    snapshots: tuple[Snapshot, ...]

    @property
    def cells(self) -> range:
        """All cells that are written or under the head at some time."""
        last = self.snapshots[-1]
        heads = [snapshot.head for snapshot in self.snapshots]
        return range(min(last.low, *heads), max(last.low + len(last.codes), *(head + 1 for head in heads)))

    def image(self) -> "np.ndarray[Any, np.dtype[np.uint8]]":
        """The codes as an array, a row for each snapshot; 0 is the blank."""
        grid = np.zeros((len(self.snapshots), len(self.cells)), dtype=np.uint8)
        for row, snapshot in zip(grid, self.snapshots, strict=True):
            start = snapshot.low - self.cells.start
            row[start : start + len(snapshot.codes)] = np.frombuffer(snapshot.codes, dtype=np.uint8)
        return grid


def record_tape(
    machine: TuringMachine,
    word: Sequence[str] = "",
    rows: int = 40,
    max_steps: int = 10**9,
    on_progress: Callable[[int], None] = lambda steps: None,
) -> TapeHistory:
    """Simulate once, and keep at most so many snapshots; every step has one where the run is short enough."""
    simulation = Simulation(machine, word)
    kept, every = [_snapshot(simulation)], 1
    while simulation.answer is None and simulation.steps < max_steps:
        if len(kept) == rows:  # the length of the run is not known in advance: go on with every second one
            kept, every = kept[::2], 2 * every
        simulation.advance(min(every - simulation.steps % every, max_steps - simulation.steps))
        on_progress(simulation.steps)
        kept.append(_snapshot(simulation))
    return TapeHistory(machine, tuple(kept))


def _snapshot(simulation: Simulation) -> Snapshot:
    return Snapshot(simulation.steps, simulation.state, simulation.head, simulation.low, bytes(simulation.codes))


COLOURS = ("#4c78a8", "#f58518", "#54a24b", "#e45756", "#72b7b2", "#b279a2", "#eeca3b", "#9d755d")
"""One for each symbol, from the first on again after the last."""
_SHADES = "░█▒▓"


def draw_tape(history: TapeHistory, width: int) -> Text:
    """A line for each snapshot: its step, its state, and the tape as letters where they fit, else as blocks."""
    machine, last = history.machine, history.snapshots[-1]
    step_width, state_width = len(f"{last.step:,}"), max(map(len, machine.states))
    room = width - step_width - state_width - 3
    letters = 2 * len(history.cells) < room and all(len(symbol) == 1 for symbol in machine.alphabet)
    picture = Text()
    for snapshot, codes in zip(history.snapshots, history.image(), strict=True):
        picture.append(f"{snapshot.step:>{step_width},} {snapshot.state:>{state_width}} ", style="dim")
        head = snapshot.head - history.cells.start
        picture.append_text(_letters(machine, codes, head) if letters else _blocks(codes, head, room))
        picture.append("\n")
    picture.right_crop(1)
    return picture


def _letters(machine: TuringMachine, codes: Sequence[int], head: int) -> Text:
    """`  1[1]0`: one letter for each cell, the head in brackets."""
    line = Text()
    for cell, code in enumerate(codes):
        line.append("[" if cell == head else "]" if cell == head + 1 else " ")
        line.append(machine.alphabet[code] if code or cell == head else " ", style=_style(code))
    line.append("]" if head == len(codes) - 1 else "")
    line.rstrip()
    return line


def _blocks(codes: Sequence[int], head: int, width: int) -> Text:
    """One block for each cell, or for every few cells; the head as a diamond."""
    width = min(width, len(codes))
    line = Text()
    for column, code in enumerate(codes[index * len(codes) // width] for index in range(width)):
        here = column == head * width // len(codes)
        line.append("◆" if here else _SHADES[(code - 1) % len(_SHADES)] if code else " ", style=_style(code))
    return line


def _style(code: int) -> Style:
    return Style(color=COLOURS[(code - 1) % len(COLOURS)]) if code else Style()


def save_tape(history: TapeHistory, path: Path) -> None:
    """The picture as a file of any kind that matplotlib writes; the head is a line where every step has a row."""
    try:
        import matplotlib
    except ImportError:
        raise PencilError("a picture needs matplotlib; try: pip install 'pencil[plot]'") from None
    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axis = pyplot.subplots(figsize=(8, 8), layout="constrained")
    _plot_cells(history, axis)
    heads = [snapshot.head for snapshot in history.snapshots]
    if history.snapshots[-1].step == len(heads) - 1:
        axis.plot(heads, range(len(heads)), color="black", linewidth=0.8, label="head")
    figure.legend(loc="outside right upper")
    axis.yaxis.set_major_formatter("{x:,.0f}")
    axis.set(title=history.machine.name, xlabel="cell (0 is the first of the input)", ylabel="step")
    try:
        figure.savefig(path, dpi=150)
    except (ValueError, OSError) as error:  # an unknown kind of file, or a directory that cannot be written to
        raise PencilError(f"cannot write {path}: {error}") from None
    pyplot.close(figure)


def _plot_cells(history: TapeHistory, axis: Any) -> None:
    """The codes as colours, and a legend entry for each symbol."""
    from matplotlib.colors import ListedColormap

    symbols, cells, steps = history.machine.symbols, history.cells, history.snapshots[-1].step
    colours = [COLOURS[index % len(COLOURS)] for index in range(len(symbols))]
    axis.imshow(
        history.image(),
        cmap=ListedColormap(["white", *colours]),
        vmin=0,
        vmax=len(symbols),
        extent=(cells.start - 0.5, cells.stop - 0.5, steps + 0.5, -0.5),
        aspect="auto",
        interpolation="nearest",
    )
    for symbol, colour in zip(symbols, colours, strict=True):
        axis.plot([], [], marker="s", linestyle="none", color=colour, label=symbol)
