"""The paper's two figures of convergence: accuracy on QBF, n = 3 to 6, against attention FLOPs and iterations."""

import json
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from experiments.comparison import COLOURS, QUICK_TOKENS
from experiments.experiment import Experiment, Options, Result, Rows
from experiments.models import Job, finish, hours, recipe_for
from pencil.tasks import Format, get_task

if TYPE_CHECKING:
    from pencil.model.checkpoint import Checkpoint
    from pencil.model.transformer import Transformer
    from pencil.train.config import Recipe

SIZES = (3, 4, 5, 6)
FORMATS: tuple[Format, ...] = ("cot", "pencil")
LABELS = {"cot": "CoT", "pencil": "PENCIL"}
BATCH = {3: 4, 4: 4, 5: 2, 6: 2}
"""Instances a step: the traces get longer, and a step should not."""
WINDOW = {3: 2_048, 4: 4_096, 5: 8_192, 6: 16_384}
"""Longer than any trace: the paper allows unlimited context here."""
MINUTES = {3: 10.0, 4: 12.0, 5: 14.0, 6: 16.0}
"""What a size takes to be learned; as much for both formats."""
LOOKS = 10
RATE = 4e-3
"""With hints, the best of three for QBF at equal time; see LOG.md."""
COUNT = 32
ROWS = 16
"""Chains of thought are long here, and each row keeps its own keys and values."""


def run(options: Options) -> Result:
    """Eight models: four sizes, two formats; each is looked at while it learns."""
    count = options.count or (2 if options.quick else COUNT)
    sizes = SIZES[:1] if options.quick else SIZES
    jobs = [_job(size, format, count, options) for size in sizes for format in FORMATS]
    measured = finish(jobs, f"curve-{count}-{options.seed}", _curve, options)
    return {"count": count, "seed": options.seed, "hours": hours(measured), "sizes": sizes, "models": measured}


def _job(size: int, format: Format, count: int, options: Options) -> Job:
    recipe = recipe_for("qbf3", format, options, sizes=[size])
    recipe = replace(
        recipe,
        data=replace(recipe.data, batch=BATCH[size], stretch=None, window=WINDOW[size]),
        model=replace(recipe.model, context=WINDOW[size]),
        train=replace(recipe.train, learning_rate=RATE),
    )
    minutes = None if options.quick else options.minutes or MINUTES[size]
    looks = 3 if options.quick else LOOKS
    return Job(_name(size, format), recipe, minutes, looks, _look(recipe, count, options))


def _name(size: int, format: str) -> str:
    return f"convergence-{size}-{format}"


def _look(recipe: "Recipe", count: int, options: Options) -> "Callable[[Transformer], Result]":
    """Measures a model while it learns."""
    from experiments.measure import measure
    from pencil.model.checkpoint import Checkpoint

    [size] = recipe.data.sizes
    task = get_task(recipe.data.task, size)

    def look(model: "Transformer") -> dict[str, Any]:
        checkpoint = Checkpoint(model, task.vocab, task.name, (size,), recipe.data.format)
        start = time.process_time()
        report = measure(checkpoint, task, count, options.seed, ROWS, QUICK_TOKENS if options.quick else None)
        minutes = (time.process_time() - start) / 60
        return {"held_out": {"accuracy": report["accuracy"], "trace_rate": report["trace_rate"], "minutes": minutes}}

    return look


def _curve(checkpoint: "Checkpoint", run: Path) -> Result:
    """What was seen at each look, from the run's journal, and what an iteration costs."""
    entries = map(json.loads, (run / "metrics.jsonl").read_text(encoding="utf-8").splitlines())
    looks = {entry["step"]: entry["held_out"] for entry in entries if "held_out" in entry}
    batch = json.loads((run / "run.json").read_text(encoding="utf-8"))["data"]["batch"]
    flops = batch * attention_flops(checkpoint)
    points = [{"step": step, "flops": step * flops, **seen} for step, seen in sorted(looks.items())]
    minutes = sum(point["minutes"] for point in points)
    return {"flops_an_iteration": flops, "measured_in_minutes": minutes, "points": points}


def attention_flops(checkpoint: "Checkpoint", instances: int = 200) -> float:
    """FLOPs of self-attention for an instance of training, on average, by the paper's equation (appendix A).

    The equation counts each pair of a query and a key twice. A pair takes 4 operations for each number of the width,
    for the score and for the mixture; the gradient takes twice as many as the forward pass.
    """
    task, config = get_task(checkpoint.task, checkpoint.sizes[0]), checkpoint.model.config
    stats = [task.trace(task.draw(0, index)).stats() for index in range(instances)]
    costs = [each.cost_pencil if checkpoint.format == "pencil" else each.cost_cot for each in stats]
    return 3 * 4 * config.d_model * config.n_layers * sum(costs) / 2 / instances


def first_best(points: list[dict[str, Any]]) -> dict[str, Any]:
    """The first look with the best accuracy of all."""
    return max(points, key=lambda point: point["accuracy"])  # the first of equals


def table(result: Result) -> Rows:
    """When each method was best for the first time."""
    rows = [["", "best accuracy, %", "at iteration", "at attention FLOPs", "after minutes"]]
    for size in result["sizes"]:
        for format in FORMATS:
            model = result["models"][_name(size, format)]
            best = first_best(model["points"])
            minutes = "-" if model["minutes"] is None else f"{model['minutes'] * best['step'] / model['steps']:.0f}"
            figures = f"{100 * best['accuracy']:.4g}", f"{best['step']:,}", f"{best['flops']:.2e}", minutes
            rows.append([f"QBF n={size}, {LABELS[format]}: ours", *figures])
    return rows


def draw(result: Result, path: Path) -> None:
    """A column for each size; above against FLOPs, below against iterations; a circle and a line where it is best."""
    from experiments.plot import save_figure, subplots

    axes_of = {"flops": "FLOPs of self-attention", "step": "iterations"}
    figure, axes = subplots(2, len(result["sizes"]), width=3.8, height=3.2, sharey=True)
    for column, size in enumerate(result["sizes"]):
        for row, (key, label) in enumerate(axes_of.items()):
            axis = axes[row][column]
            for format in FORMATS:
                points, colour = result["models"][_name(size, format)]["points"], COLOURS[format]
                best = first_best(points)
                xs, ys = [0, *(point[key] for point in points)], [0, *(100 * point["accuracy"] for point in points)]
                axis.plot(xs, ys, color=colour, label=LABELS[format])
                axis.plot([best[key]], [100 * best["accuracy"]], "o", color=colour)
                axis.axvline(best[key], color=colour, linestyle=":", alpha=0.7)
            axis.set(title=f"QBF n={size}", xlabel=label, ylim=(-3, 104))
            axis.grid(alpha=0.3)
    for row in axes:
        row[0].set_ylabel("accuracy, %")
    axes[0][0].legend(fontsize=8)
    save_figure(figure, path)


TIMES = ", ".join(f"{minutes:.0f}" for minutes in MINUTES.values())

EXPERIMENT = Experiment(
    name="figure-convergence",
    title="Convergence on QBF: attention FLOPs and iterations",
    run=run,
    table=table,
    draw=draw,
    notes=f"""\
A model for each size and format, with a window that holds every trace, on one thread. Both formats of a size are
trained for the same CPU time and looked at {LOOKS} times. Circles and dotted lines mark when a method was best for the
first time. The paper gives no numbers here; it finds that PENCIL converges with less compute, and that the gap grows
with n. So it is here: for n=3 a chain of thought takes more than twice the FLOPs, and for n=4 and 5 it is no better
than a guess when PENCIL is right throughout. For n=6 the time is too short for both.""",
    cost=f"8 models, two of each size, of {TIMES} minutes, and {LOOKS} looks at each of them",
)
