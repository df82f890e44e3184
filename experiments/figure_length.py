"""The paper's figure of maximal lengths: the longest sequence with and without the rule.

    python -m experiments.figure_length [--count 1000]

Reasons out `count` instances of each size of each task, and writes figure_length.json and figure_length.png to
experiments/results. About two minutes on one core.
"""

import argparse
import json
from pathlib import Path
from typing import Any

from pencil.cli.progress import progress_bar
from pencil.tasks import Task
from pencil.tasks.einstein import Einstein
from pencil.tasks.lengths import measure_lengths
from pencil.tasks.qbf import Qbf
from pencil.tasks.sat import Sat

RESULTS = Path(__file__).parent / "results"
Series = dict[str, list[tuple[int, int]]]
"""Points (size, longest length) for each curve."""

PANELS: dict[str, list[int]] = {"sat": list(range(3, 11)), "qbf": list(range(3, 11)), "einstein": [3, 4, 5]}
TITLES = {"sat": "SAT", "qbf": "QBF", "einstein": "Einstein's puzzle"}
COT, PENCIL, NO_TAIL = "chain of thought", "PENCIL", "PENCIL without tail recursion"
COLOURS = {COT: "tab:red", PENCIL: "tab:green", NO_TAIL: "tab:olive"}
PAPER: dict[str, Series] = {
    "sat": {COT: [(10, 13_804)], PENCIL: [(10, 2_507)]},
    "qbf": {COT: [(10, 151_661)], PENCIL: [(10, 649)]},
    "einstein": {COT: [(5, 151_192)], PENCIL: [(5, 3_335)], NO_TAIL: [(5, 7_705)]},
}
"""What the paper's text states; the rest of its figure is not given in numbers."""


def tasks_of(panel: str, size: int) -> dict[str, Task[Any]]:
    """The tasks to measure for one size; the puzzle has a variant without tail recursion."""
    if panel == "einstein":
        return {PENCIL: Einstein(size), NO_TAIL: Einstein(size, tail_recursion=False)}
    return {PENCIL: Sat(size) if panel == "sat" else Qbf(size)}


def measure(count: int, seed: int) -> dict[str, Any]:
    """Longest and mean lengths for every panel, size and variant."""
    panels: dict[str, Any] = {}
    for panel, sizes in PANELS.items():
        panels[panel] = []
        for size in sizes:
            for variant, task in tasks_of(panel, size).items():
                with progress_bar(f"{panel} {size}, {variant}", count) as done:
                    lengths = measure_lengths(task, count, seed, done)
                panels[panel].append({"variant": variant, **lengths.as_dict()})
    return {"count": count, "seed": seed, "panels": panels}


def series(rows: list[dict[str, Any]]) -> Series:
    """The curves of one panel."""
    curves: Series = {COT: [], PENCIL: [], NO_TAIL: []}
    for row in rows:
        curves[row["variant"]].append((row["size"], row["peak"]["longest"]))
        if row["variant"] == PENCIL:
            curves[COT].append((row["size"], row["trace"]["longest"]))
    return {name: points for name, points in curves.items() if points}


def draw(result: dict[str, Any], path: Path) -> None:
    """One panel for each task, lengths on a log scale, the paper's numbers as stars."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, len(PANELS), figsize=(13, 4), sharey=True, layout="constrained")
    for axis, (panel, rows) in zip(axes, result["panels"].items(), strict=True):
        for name, points in series(rows).items():
            axis.plot(*zip(*points, strict=True), marker="o", color=COLOURS[name], label=name)
        for name, points in PAPER[panel].items():
            axis.plot(*zip(*points, strict=True), marker="*", markersize=14, linestyle="none", color=COLOURS[name])
        axis.plot([], [], marker="*", markersize=14, linestyle="none", color="grey", label="the paper")
        axis.set(title=TITLES[panel], yscale="log", xticks=PANELS[panel], xlabel="n" if panel != "einstein" else "size")
        axis.grid(alpha=0.3, which="both")
        axis.legend(fontsize=8)
    axes[0].set_ylabel("longest sequence, tokens")
    figure.suptitle(f"Maximal sequence length over {result['count']:,} instances of each size")
    figure.savefig(path, dpi=150)


def table(result: dict[str, Any]) -> str:
    """Paper beside ours, where the paper gives a number."""
    lines = [f"{'longest sequence':<52} {'paper':>9} {'ours':>9}"]
    for panel, rows in result["panels"].items():
        curves = series(rows)
        for name, [(size, length)] in PAPER[panel].items():
            lines.append(f"{TITLES[panel] + f' {size}, ' + name:<52} {length:>9,} {dict(curves[name])[size]:>9,}")
    return "\n".join(lines)


def main() -> None:
    """Measure, store, draw and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=1000, help="instances of each size")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=RESULTS, help="directory for the JSON and the PNG")
    options = parser.parse_args()
    result = measure(options.count, options.seed)
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "figure_length.json").write_text(json.dumps(result, indent=1) + "\n")
    draw(result, options.out / "figure_length.png")
    print(table(result))


if __name__ == "__main__":
    main()
