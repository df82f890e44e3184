"""Time and space of machines under PENCIL: what a chain of thought must hold, and what is left with the rule.

Runs a binary counter, palindromes, a walker and the busy beaver of five states on growing inputs (the busy beaver: for
growing numbers of steps).
"""

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from experiments.experiment import Experiment, Options, Result, Rows
from pencil.cli.progress import progress_bar
from pencil.theory.machines import load
from pencil.theory.scroll import measure_run, scroll
from pencil.theory.turing import simulate

MOST_STEPS = 10**7
"""The longest run of the busy beaver."""
Row = dict[str, Any]


@dataclass(frozen=True)
class Panel:
    """A machine and the inputs it grows through."""

    machine: str
    title: str
    sizes: tuple[int, ...]
    word: Callable[[int], str]
    steps: Callable[[int], int | None] = lambda size: None
    """Where to stop a machine that would run too long."""
    axis: str = "input length"


def panels(max_steps: int) -> list[Panel]:
    """The four machines; the last one has no input, and is stopped instead."""
    powers = tuple(10**exponent for exponent in range(2, 9) if 10**exponent <= max_steps)
    return [
        Panel("counter", "binary counter: T is exponential", tuple(range(2, 20)), lambda size: "#" + "0" * (size - 1)),
        Panel("palindrome", "palindromes: T is quadratic", tuple(range(8, 257, 8)), lambda size: "a" * size),
        Panel("walker", "far-left walker: T is quadratic", tuple(range(8, 257, 8)), lambda size: "a" * size),
        Panel("bb5", "busy beaver of 5 states", powers, lambda size: "", lambda size: size, axis="steps"),
    ]


def run(options: Options) -> Result:
    """Every machine on every input."""
    rows: dict[str, list[Row]] = {}
    for panel in panels(MOST_STEPS):
        if options.quick:
            panel = replace(panel, sizes=panel.sizes[:4])
        with progress_bar(panel.title, len(panel.sizes)) as done:
            rows[panel.machine] = []
            for row in measure(panel):
                rows[panel.machine].append(row)
                done(len(rows[panel.machine]))
    return {"rows": rows}


def measure(panel: Panel) -> Iterator[Row]:
    """T, S and the sizes of the trace for each input of a panel."""
    machine = load(panel.machine)
    for size in panel.sizes:
        word = panel.word(size)
        trace = measure_run(machine, word, scroll(machine, word, max_steps=panel.steps(size)))
        run = simulate(machine, word, max_steps=trace.steps)
        yield {"size": size, "space": run.space, "cot_peak": len(word) + run.steps, **asdict(trace)}


CURVES = {
    "tokens": ("PENCIL, tokens generated", "tab:olive", "--"),
    "cot_peak": ("chain of thought, context", "tab:red", "-"),
    "peak": ("PENCIL, context", "tab:green", "-"),
    "space": ("S, the longest state", "grey", ":"),
}


def draw(result: Result, path: Path) -> None:
    """One panel for each machine, sizes on a log scale."""
    from experiments.plot import save_figure, subplots

    shown = panels(MOST_STEPS)
    figure, axes = subplots(1, len(shown), width=4, height=4.2)
    for axis, panel in zip(axes[0], shown, strict=True):
        rows = result["rows"][panel.machine]
        for key, (label, colour, line) in CURVES.items():
            sizes, values = ([row[name] for row in rows] for name in ("size", key))
            axis.plot(sizes, values, line, color=colour, label=label, marker="." if len(values) < 20 else "")
        axis.set(
            title=panel.title, yscale="log", xlabel=panel.axis, xscale="log" if panel.axis == "steps" else "linear"
        )
        if panel.axis != "steps":
            axis.xaxis.get_major_locator().set_params(integer=True)
        axis.grid(alpha=0.3)
    axes[0][0].set_ylabel("tokens")
    axes[0][0].legend(fontsize=8)
    save_figure(figure, path)


def table(result: Result) -> Rows:
    """The largest run of each machine."""
    header = ["largest run", "size", "T", "tokens", "S", "context", "CoT context / ours"]
    return [header, *(_largest(machine, rows[-1]) for machine, rows in result["rows"].items())]


def _largest(machine: str, row: Row) -> list[str]:
    figures = (row["size"], row["steps"], row["tokens"], row["space"], row["peak"], row["cot_peak"] / row["peak"])
    return [machine, *(f"{figure:,.0f}" for figure in figures)]


EXPERIMENT = Experiment(
    name="figure-theory",
    title="Time and space of Turing machines",
    run=run,
    table=table,
    draw=draw,
    notes="""\
A chain of thought holds one token for each step. PENCIL generates at most four times as many tokens and holds a small
multiple of the machine's own space: proposition "space and time efficient simulation" of the paper, measured.""",
    cost="half a minute",
)
