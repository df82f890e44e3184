"""The paper's figure of maximal lengths: the longest sequence with and without the rule."""

from pathlib import Path
from typing import Any

from experiments.comparison import COLOURS as METHOD_COLOURS
from experiments.comparison import TITLES
from experiments.experiment import Experiment, Options, Result, Rows
from experiments.paper import LENGTHS, PUZZLES, SIZES
from pencil.cli.progress import progress_bar
from pencil.tasks import Task, get_task
from pencil.tasks.lengths import measure_lengths

Series = dict[str, list[tuple[int, int]]]
"""Points (size, longest length) for each curve."""

COUNT = 1_000
PANELS = {"sat": SIZES, "qbf": SIZES, "einstein": PUZZLES}
COT, PENCIL, NO_TAIL = "cot", "pencil", "no tail recursion"
LABELS = {COT: "chain of thought", PENCIL: "PENCIL", NO_TAIL: "PENCIL without tail recursion"}
COLOURS = {**METHOD_COLOURS, NO_TAIL: "tab:olive"}


def run(options: Options) -> Result:
    """Longest and mean lengths for every panel, size and variant."""
    count = options.count or (2 if options.quick else COUNT)
    panels: dict[str, Any] = {}
    for panel, sizes in PANELS.items():
        panels[panel] = []
        for size in sizes:
            for variant, task in tasks_of(panel, size).items():
                with progress_bar(f"{panel} {size}, {LABELS[variant]}", count) as done:
                    lengths = measure_lengths(task, count, options.seed, done)
                panels[panel].append({"variant": variant, **lengths.as_dict()})
    return {"count": count, "seed": options.seed, "panels": panels}


def tasks_of(panel: str, size: int) -> dict[str, Task[Any]]:
    """The tasks to measure for one size; the puzzle has a variant without tail recursion."""
    tasks = {PENCIL: get_task(panel, size)}
    if panel == "einstein":
        tasks[NO_TAIL] = get_task(panel, size, tail_recursion=False)
    return tasks


def series(rows: list[dict[str, Any]]) -> Series:
    """The curves of one panel."""
    curves: Series = {COT: [], PENCIL: [], NO_TAIL: []}
    for row in rows:
        curves[row["variant"]].append((row["size"], row["peak"]["longest"]))
        if row["variant"] == PENCIL:
            curves[COT].append((row["size"], row["trace"]["longest"]))
    return {name: points for name, points in curves.items() if points}


def draw(result: Result, path: Path) -> None:
    """One panel for each task, lengths on a log scale, the paper's numbers as stars."""
    from experiments.plot import save_figure, subplots

    figure, axes = subplots(1, len(PANELS), width=4.3, height=4, sharey=True)
    for axis, (panel, rows) in zip(axes[0], result["panels"].items(), strict=True):
        for name, points in series(rows).items():
            axis.plot(*zip(*points, strict=True), marker="o", color=COLOURS[name], label=LABELS[name])
        for name, (size, length) in LENGTHS[panel].items():
            axis.plot([size], [length], marker="*", markersize=14, linestyle="none", color=COLOURS[name])
        axis.plot([], [], marker="*", markersize=14, linestyle="none", color="grey", label="the paper")
        axis.set(title=TITLES[panel], yscale="log", xticks=PANELS[panel], xlabel="n" if panel != "einstein" else "size")
        axis.grid(alpha=0.3, which="both")
        axis.legend(fontsize=8)
    axes[0][0].set_ylabel("longest sequence, tokens")
    figure.suptitle(f"Maximal sequence length over {result['count']:,} instances of each size")
    save_figure(figure, path)


def table(result: Result) -> Rows:
    """Paper beside ours, where the paper gives a number."""
    rows = [["longest sequence", "paper", "ours"]]
    for panel, measured in result["panels"].items():
        curves = series(measured)
        for name, (size, length) in LENGTHS[panel].items():
            ours = dict(curves[name])[size]
            rows.append([f"{TITLES[panel]} {size}, {LABELS[name]}", f"{length:,}", f"{ours:,}"])
    return rows


EXPERIMENT = Experiment(
    name="figure-length",
    title="Maximal lengths",
    run=run,
    table=table,
    draw=draw,
    notes="""\
The paper does not say how many instances it measured, and a maximum grows with their number. What differs, and why:

- **SAT.** Within sampling: over seeds 0 to 5 (`pencil stats sat --size 10 --count 1000 --seed S`) the longest trace
  was 12,913 to 14,338 and the longest peak 2,515 to 2,603.
- **QBF.** Over the same seeds the longest trace was 159,419 to 204,772 and the longest peak 655 to 665, 1 to 2 % above
  the paper's. The clauses that the paper adds to its equivalences are not described; ours have two or three literals.
- **Puzzles.** The distribution of traces has a long tail. Of 5,000 puzzles (`pencil stats einstein --size 5 --count
  5000`) the longest trace is 156,240 tokens, as in the paper, and the longest peak 3,748, which is 12 % above it. How
  many clues the paper's puzzles have is not stated. Ours get random clues, each of which adds information, until the
  solution is unique: 13 to 20 of them. `Einstein(5, minimal=True)` also drops every clue that is not needed.""",
    cost=f"two minutes for {COUNT:,} instances of each size",
)
