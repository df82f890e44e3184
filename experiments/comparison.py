"""What the two tables and the figure of inference time share: for each task and format one model, or one for each size.

The tables also time their models on one problem at a time, while these are at hand; the figure is made from that.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from experiments.experiment import Options, Result, Rows
from experiments.models import Job, at_hand, finish, hours, recipe_for
from experiments.paper import FORMATS, SOLVED
from pencil.model.pretrained import bundled
from pencil.tasks import Format, get_task

if TYPE_CHECKING:
    from pencil.model.checkpoint import Checkpoint
    from pencil.train.config import Recipe

MINUTES = {
    "sat": {"sat": 20.0},
    "qbf": {"qbf": 20.0},
    "einstein": {"einstein3": 20.0, "einstein4": 40.0, "einstein5": 40.0},
}
"""The recipes of each task, and the CPU time to train each model for: one over all sizes, but of puzzles, where an hour
for all of them teaches none, one for each."""
RATES = {"einstein": 6e-3}
"""Learning rates of runs much shorter than a recipe's own, which learn more at a higher one."""
LAYERS = 6
"""The most that a model has here, so that all of a table have as many; recipes for large puzzles have one more."""
COUNT, ALONE = 100, 20
"""Instances of each size: to measure accuracy, and to measure time."""
HOPELESS = 2
"""After this many sizes in a row that are not solved, larger ones are not timed."""
TIMED: tuple[Format, ...] = ("cot", "pencil")
QUICK_TOKENS = 100
COLOURS = {"direct": "tab:grey", "cot": "tab:red", "pencil": "tab:green", "ships": "tab:blue"}
TITLES = {"sat": "SAT", "qbf": "QBF", "einstein": "Einstein's puzzle"}
METRICS = {"accuracy": "accuracy", "trace_rate": "trace rate"}


def jobs(task: str, formats: Sequence[Format], options: Options) -> list[Job]:
    """The models of a task, those of all formats trained for as long."""
    return [
        Job(
            f"{task}-{format}" if recipe == task else f"{task}-{format}-{recipe}",
            _shallow(recipe_for(recipe, format, options, rate=RATES.get(task))),
            None if options.quick else options.minutes or minutes,
        )
        for format in formats
        for recipe, minutes in MINUTES[task].items()
    ]


def _shallow(recipe: "Recipe") -> "Recipe":
    """With few layers."""
    return replace(recipe, model=replace(recipe.model, n_layers=min(LAYERS, recipe.model.n_layers)))


def compare(tasks: Sequence[str], formats: Sequence[Format], options: Options) -> Result:
    """Train the models of these tasks, and measure each on every size."""
    models = [job for task in tasks for job in jobs(task, formats, options)]
    measured = by_size(models, options)
    one_at_a_time([job for job in models if _format(job) in TIMED and at_hand(job, options)], measured, options)
    return {
        "seed": options.seed,
        "hours": hours(measured),
        "models": measured,
        "ships": {task: shipped(task) for task in tasks},
    }


def by_size(models: Sequence[Job], options: Options) -> dict[str, Result]:
    """The figures of every size that a model was trained on, many problems at once."""
    count = _count(COUNT, options)
    return finish(models, f"sizes-{count}-{options.seed}", partial(_measure, count=count, options=options), options)


def one_at_a_time(models: Sequence[Job], measured: dict[str, Result], options: Options) -> dict[str, Result]:
    """The same for one problem at a time, on one thread; a model that is known to solve no size is not timed."""
    count = _count(ALONE, options)
    measure = partial(_measure, count=count, options=options, rows=1, hopeless=HOPELESS)
    timed = [job for job in models if job.name not in measured or _solves_any(measured[job.name])]
    use = {job.name: options.use[job.name] for job in timed if job.name in options.use}
    times = finish(timed, f"alone-{count}-{options.seed}", measure, replace(options, use=use))
    return {job.name: times.get(job.name) or {**measured[job.name], "reports": []} for job in models}


def _format(job: Job) -> str | None:
    return None if job.recipe is None else job.recipe.data.format


def _solves_any(model: Result) -> bool:
    return any(report["accuracy"] >= SOLVED for report in model["reports"])


def _count(usual: int, options: Options) -> int:
    return options.count or (2 if options.quick else usual)


def _measure(
    checkpoint: "Checkpoint", run: Path, count: int, options: Options, rows: int = 32, hopeless: int | None = None
) -> Result:
    """A report for every size, or for those before so many in a row that are not solved."""
    from experiments.measure import measure
    from pencil.cli.progress import progress_bar

    reports: list[dict[str, Any]] = []
    most = QUICK_TOKENS if options.quick else None
    for size in checkpoint.sizes:
        if hopeless and len(reports) >= hopeless and not _solves_any({"reports": reports[-hopeless:]}):
            break
        task = get_task(checkpoint.task, size)
        with progress_bar(f"{checkpoint.format} on {task.name} of size {size}, {rows} at a time", count) as done:
            reports.append(measure(checkpoint, task, count, options.seed, rows, most, done))
    return {"reports": reports}


def shipped(task: str) -> list[dict[str, Any]]:
    """What the cards of the models that ship say, size by size."""
    return [
        {"model": model.name, "hours": sum(run["hours"] for run in model.facts["runs"]), **report}
        for model in bundled()
        if model.task == task
        for report in model.facts["evaluation"]
    ]


Paper = dict[str, dict[str, dict[str, tuple[float, ...]]]]
"""Task, format, metric, and the paper's percentages by size."""


def table(paper: Paper, sizes: Sequence[int], result: Result) -> Rows:
    """A line for each method and metric: the paper's, ours, and that of a model that ships."""
    rows = [["", *map(str, sizes)]]
    for task, formats in paper.items():
        for format, metrics in formats.items():
            model = together(result, task, format)
            for metric, percentages in metrics.items():
                what = f"{TITLES[task]}, {FORMATS[format]}, {METRICS[metric]}"
                rows.append([f"{what}: paper", *(f"{share:g}" for share in percentages)])
                rows.append([f"{what}: ours, {spent(model)}", *cells(model["reports"], metric, sizes)])
                if format == "pencil" and result["ships"][task]:
                    reports = result["ships"][task]
                    label = f"{what}: the model that ships, {hours_shipped(reports):.1f} h"
                    rows.append([label, *cells(reports, metric, sizes)])
    return rows


def together(result: Result, task: str, kind: str) -> Result:
    """The models of a task and format, or those that ship, as one: what they took, and all of their reports."""
    models = [model for name, model in result["models"].items() if name.startswith(f"{task}-{kind}")]
    totals = {key: sum(model[key] or 0 for model in models) or None for key in ("steps", "minutes")}
    return {**totals, "reports": [report for model in models for report in model["reports"]]}


def hours_shipped(reports: Sequence[dict[str, Any]]) -> float:
    """What training took, over all models of a task that ship."""
    return sum({report["model"]: float(report["hours"]) for report in reports}.values())


def spent(model: Result) -> str:
    """The training that a number stands on."""
    return f"{model['steps']} steps" if model["minutes"] is None else f"{model['minutes']:.0f} min"


def cells(reports: Sequence[dict[str, Any]], metric: str, sizes: Sequence[int]) -> list[str]:
    """One figure for each size in percent, with a dash where there is none."""
    found = {report["size"]: report[metric] for report in reports}
    return [f"{100 * found[size]:.4g}" if size in found else "-" for size in sizes]


def draw(paper: Paper, sizes: Sequence[int], result: Result, path: Path) -> None:
    """A row for each task, a column for each metric; the paper dashed, ours drawn through."""
    from experiments.plot import save_figure, subplots

    figure, axes = subplots(len(paper), len(METRICS), width=6.5, height=3.8)
    for row, (task, formats) in zip(axes, paper.items(), strict=True):
        for axis, (metric, name) in zip(row, METRICS.items(), strict=True):
            for format, metrics in formats.items():
                if metric not in metrics:
                    continue
                model = together(result, task, format)
                label = f"{FORMATS[format]}, {spent(model)}"
                axis.plot(sizes, metrics[metric], "--", marker="*", color=COLOURS[format], alpha=0.6)
                axis.plot(*points(model["reports"], metric), marker="o", color=COLOURS[format], label=label)
            if result["ships"][task]:
                label = f"PENCIL, the model that ships, {hours_shipped(result['ships'][task]):.1f} h"
                axis.plot(*points(result["ships"][task], metric), marker="s", color=COLOURS["ships"], label=label)
            axis.plot([], [], "--", marker="*", color="grey", label="the paper")
            axis.set(title=f"{TITLES[task]}: {name}", ylabel="%", ylim=(-3, 104), xticks=sizes, xlabel="size")
            axis.grid(alpha=0.3)
        shown = row[0].get_legend_handles_labels()  # accuracy is known of every format
        row[-1].legend(*shown, fontsize=8, loc="center left", bbox_to_anchor=(1.01, 0.5))
    save_figure(figure, path)


def points(reports: Sequence[dict[str, Any]], metric: str) -> tuple[list[int], list[float]]:
    """Sizes and percentages, for a curve; where two models have the same size, the later one's."""
    found = dict(sorted({report["size"]: 100 * report[metric] for report in reports}.items()))
    return list(found), list(found.values())
