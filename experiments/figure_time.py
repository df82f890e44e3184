"""The paper's figure of inference time: the largest size solved, at 95 % accuracy or more, within a time for each."""

from collections.abc import Iterator
from math import ceil
from pathlib import Path
from typing import Any

from experiments.comparison import COLOURS, TIMED, TITLES, by_size, jobs, one_at_a_time, spent, together
from experiments.experiment import Experiment, Options, Result, Rows
from experiments.models import Job, hours
from experiments.paper import SECONDS, SOLVED
from pencil.model.pretrained import Bundled, bundled

TASKS = ("sat", "qbf", "einstein")


def run(options: Options) -> Result:
    """The models of the two tables, and those that ship, on one problem at a time."""
    trained = [job for task in TASKS for job in jobs(task, TIMED, options)]
    ships = [job for task in TASKS for job in _shipped(task)]
    measured = one_at_a_time([*trained, *ships], by_size(trained, options), options)
    for model in bundled():
        if (name := _name(model)) in measured:
            measured[name] = {**measured[name], "reports": solved_by_card(model, measured[name]["reports"])}
    return {"seed": options.seed, "hours": hours(measured), "models": measured}


def _shipped(task: str) -> Iterator[Job]:
    """Those whose cards count some size as solved."""
    for model in bundled():
        if model.task == task and any(model.accuracy(size) >= SOLVED for size in model.sizes):
            yield Job(_name(model), source=model.directory)


def _name(model: Bundled) -> str:
    return f"{model.task}-ships-{model.name}"


def solved_by_card(model: Bundled, reports: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Those of the sizes that its card counts as solved, too: it is of more instances than are timed."""
    return [report for report in reports if model.accuracy(report["size"]) >= SOLVED]


def seconds_to_solve(report: dict[str, Any]) -> float | None:
    """The time within which enough instances are right for a size to count as solved, if there is one."""
    times = sorted(seconds for right, seconds, _ in report["each"] if right)
    needed = ceil(SOLVED * report["count"])
    return times[needed - 1] if len(times) >= needed else None


def frontier(reports: list[dict[str, Any]]) -> list[tuple[float, int]]:
    """Times at which a larger size than before is solved, and these sizes."""
    solved = [(seconds, report["size"]) for report in reports if (seconds := seconds_to_solve(report)) is not None]
    steps: list[tuple[float, int]] = []
    for seconds, size in sorted(solved):
        if not steps or size > steps[-1][1]:
            steps.append((seconds, size))
    return steps


def curves(result: Result) -> dict[str, dict[str, tuple[Result, list[tuple[float, int]]]]]:
    """By task and kind of model: what it took, and its frontier; models for single sizes count as one."""
    found: dict[str, dict[str, tuple[Result, list[tuple[float, int]]]]] = {task: {} for task in TASKS}
    for task in TASKS:
        for kind in (*TIMED, "ships"):
            model = together(result, task, kind)
            if model["steps"]:
                found[task][kind] = model, frontier(model["reports"])
    return found


LABELS = {"cot": "CoT", "pencil": "PENCIL", "ships": "PENCIL, the model that ships"}


def table(result: Result) -> Rows:
    """The largest size that each solves, and the time that takes."""
    rows = [["", "largest size solved", "seconds for each instance"]]
    for task, kinds in curves(result).items():
        size, seconds = SECONDS[task]
        rows.append([f"{TITLES[task]}, PENCIL: paper", str(size), f"{seconds:g}"])
        for kind, (cost, steps) in kinds.items():
            label = f"{TITLES[task]}, {LABELS[kind]}: ours, {spent(cost)}"
            rows.append([label, str(steps[-1][1]), f"{steps[-1][0]:.2f}"] if steps else [label, "none", "-"])
    return rows


def draw(result: Result, path: Path) -> None:
    """A panel for each task: time on a log scale, the largest size solved within it."""
    from experiments.plot import save_figure, subplots

    figure, axes = subplots(1, len(TASKS), width=4.6, height=4.6)
    for axis, (task, kinds) in zip(axes[0], curves(result).items(), strict=True):
        latest = max([SECONDS[task][1], *(steps[-1][0] for _, steps in kinds.values() if steps)]) * 1.5
        for kind, (cost, steps) in kinds.items():
            times, sizes = [0.01, *(at for at, _ in steps), latest], [0, *(size for _, size in steps)]
            label = f"{LABELS[kind]}, {spent(cost)}"
            axis.step(times, [*sizes, sizes[-1]], where="post", color=COLOURS[kind], label=label)
            axis.plot(times[1:-1], sizes[1:], "o", color=COLOURS[kind])
        size, seconds = SECONDS[task]
        axis.plot([seconds], [size], "*", markersize=14, color=COLOURS["pencil"], label="PENCIL, the paper")
        axis.set(title=TITLES[task], xscale="log", xlabel="seconds for one instance", xlim=(0.02, latest))
        axis.yaxis.get_major_locator().set_params(integer=True)
        axis.grid(alpha=0.3)
        axis.legend(fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.18))
    axes[0][0].set_ylabel(f"largest size solved ({SOLVED:.0%} or better)")
    save_figure(figure, path)


EXPERIMENT = Experiment(
    name="figure-time",
    title="Inference time: the largest size solved",
    run=run,
    table=table,
    draw=draw,
    notes=f"""\
The models of the two tables, one problem at a time, by the clock of one thread of a CPU; the paper does not say which
hardware its seconds are from. A size counts as solved within a time if {SOLVED:.0%} of its instances are answered right
by then, and of a model that ships, if its card says so of 100 or more. QBF's PENCIL model was trained once more for
this, for the same CPU time on a quieter machine: 3,219 steps instead of the 2,835 of the table, and it solves larger
sizes.""",
    cost="the models of the two tables, unless they were timed with them, then half an hour for those that ship",
)
