"""Time and space of machines under PENCIL: what a chain of thought must hold, and what is left with the rule.

    python -m experiments.figure_theory [--max-steps 10000000]

Runs a binary counter, palindromes, a walker and the busy beaver of five states on growing inputs (the busy beaver: for
growing numbers of steps). Writes figure_theory.json and figure_theory.png to experiments/results. About half a minute.
"""

import argparse
import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pencil.cli.progress import progress_bar
from pencil.theory.machines import load
from pencil.theory.scroll import measure_run, scroll
from pencil.theory.turing import simulate

RESULTS = Path(__file__).parent / "results"
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


def draw(shown: list[Panel], rows: dict[str, list[Row]], path: Path) -> None:
    """One panel for each machine, sizes on a log scale."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, len(shown), figsize=(16, 4.2), layout="constrained")
    for axis, panel in zip(axes, shown, strict=True):
        for key, (label, colour, line) in CURVES.items():
            values = [row[key] for row in rows[panel.machine]]
            axis.plot(panel.sizes, values, line, color=colour, label=label, marker="." if len(values) < 20 else "")
        axis.set(
            title=panel.title, yscale="log", xlabel=panel.axis, xscale="log" if panel.axis == "steps" else "linear"
        )
        if panel.axis != "steps":
            axis.xaxis.get_major_locator().set_params(integer=True)
        axis.grid(alpha=0.3)
    axes[0].set_ylabel("tokens")
    axes[0].legend(fontsize=8)
    figure.savefig(path, dpi=150)


def table(shown: list[Panel], rows: dict[str, list[Row]]) -> str:
    """The largest run of each machine."""
    lines = [f"{'':<12}{'size':>12}{'T':>12}{'tokens':>12}{'S':>8}{'context':>9}{'CoT context / ours':>20}"]
    for panel in shown:
        row = rows[panel.machine][-1]
        sizes = f"{row['size']:>12,}{row['steps']:>12,}{row['tokens']:>12,}{row['space']:>8,}{row['peak']:>9,}"
        lines.append(f"{panel.machine:<12}{sizes}{row['cot_peak'] / row['peak']:>20,.0f}")
    return "\n".join(lines)


def main() -> None:
    """Measure, store, draw and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--max-steps", type=int, default=10**7, help="the longest run of the busy beaver")
    parser.add_argument("--out", type=Path, default=RESULTS, help="directory for the JSON and the PNG")
    options = parser.parse_args()
    shown = panels(options.max_steps)
    rows: dict[str, list[Row]] = {panel.machine: [] for panel in shown}
    for panel in shown:
        with progress_bar(panel.title, len(panel.sizes)) as done:
            for row in measure(panel):
                rows[panel.machine].append(row)
                done(len(rows[panel.machine]))
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "figure_theory.json").write_text(json.dumps(rows, indent=1) + "\n")
    draw(shown, rows, options.out / "figure_theory.png")
    print(table(shown, rows))


if __name__ == "__main__":
    main()
