"""The paper's figure of model size and context length: accuracy on 3x3 puzzles."""

from dataclasses import replace
from functools import partial
from pathlib import Path

from experiments.comparison import QUICK_TOKENS, by_size
from experiments.experiment import Experiment, Options, Result, Rows
from experiments.models import Job, finish, hours, recipe_for
from experiments.paper import SMALLEST_LAYERS, SMALLEST_MILLIONS
from pencil.tasks import Format, get_task

MODELS = {"2x64": (2, 64, 2), "4x128": (4, 128, 4), "4x256": (4, 256, 4)}
"""Layers, width and heads; the last one is the paper's smallest that solves the puzzle, 3.15M parameters."""
CONTEXTS = (512, 1_024, 2_048)
FORMATS: tuple[Format, ...] = ("cot", "pencil")
LABELS = {"cot": "CoT", "pencil": "PENCIL"}
HOUSES = 3
MINUTES = 30.0
COUNT = 100


def run(options: Options) -> Result:
    """A model for each size, format and context, but where a context makes no difference."""
    count = options.count or (2 if options.quick else COUNT)
    models = list(MODELS)[:1] if options.quick else list(MODELS)
    lengths = {format: lengths_of(format, count, options.seed) for format in FORMATS}
    cells = [
        {"model": model, "format": format, "context": context, "trained_at": trained_at(context, lengths[format])}
        for format in FORMATS
        for model in models
        for context in CONTEXTS
    ]
    jobs = {_name(cell): _job(cell, options) for cell in cells if cell["trained_at"]}
    measure = partial(by_size, count=count, seed=options.seed, most=QUICK_TOKENS if options.quick else None)
    measured = finish(list(jobs.values()), f"sizes-{count}-{options.seed}", measure, options)
    return {"count": count, "seed": options.seed, "hours": hours(measured), "cells": cells, "models": measured}


def lengths_of(format: Format, count: int, seed: int) -> list[int]:
    """The longest live sequence of each instance that is measured."""
    from pencil.evaluate import held_out_instances, longest_sequence

    task = get_task("einstein", HOUSES)
    return [longest_sequence(task.trace(instance), format) for instance in held_out_instances(task, count, seed)]


def trained_at(context: int, lengths: list[int]) -> int:
    """The context to train for: the smallest that holds all if this one does too; 0 if this one holds none.

    >>> [trained_at(context, [600, 900]) for context in CONTEXTS]
    [0, 1024, 1024]
    """
    if min(lengths) > context:
        return 0
    return next((smaller for smaller in CONTEXTS if max(lengths) <= smaller <= context), context)


def _name(cell: Result) -> str:
    return f"size-{cell['model']}-{cell['format']}-{cell['trained_at']}"


def _job(cell: Result, options: Options) -> Job:
    layers, width, heads = MODELS[cell["model"]]
    recipe = recipe_for("einstein3", cell["format"], options)
    model = replace(recipe.model, context=cell["trained_at"])
    if not options.quick:
        model = replace(model, n_layers=layers, d_model=width, n_heads=heads)
    recipe = replace(recipe, data=replace(recipe.data, window=cell["trained_at"]), model=model)
    return Job(_name(cell), recipe, None if options.quick else options.minutes or MINUTES)


def accuracy(result: Result, format: str, model: str, context: int) -> float:
    """In percent; a context that no instance fits into has no right answer."""
    [cell] = [
        cell for cell in result["cells"] if (cell["format"], cell["model"], cell["context"]) == (format, model, context)
    ]
    if not cell["trained_at"]:
        return 0.0
    [report] = result["models"][_name(cell)]["reports"]
    return 100 * float(report["accuracy"])


def _models(result: Result) -> dict[str, str]:
    """The models, each with its number of parameters in words."""
    sizes = {
        cell["model"]: result["models"][_name(cell)]["parameters"] for cell in result["cells"] if cell["trained_at"]
    }
    return {model: f"{count / 1e6:.2f}M" for model, count in sizes.items()}


def table(result: Result) -> Rows:
    """Accuracy by model and context."""
    rows = [["", *(f"context {context:,}" for context in CONTEXTS)]]
    for format in FORMATS:
        for model, size in _models(result).items():
            figures = [f"{accuracy(result, format, model, context):.4g}" for context in CONTEXTS]
            rows.append([f"{LABELS[format]}, {model}, {size} parameters: ours", *figures])
    return rows


def draw(result: Result, path: Path) -> None:
    """A panel for each method, a curve for each model."""
    from experiments.plot import save_figure, subplots

    figure, axes = subplots(1, len(FORMATS), width=5, height=3.8, sharey=True)
    for axis, format in zip(axes[0], FORMATS, strict=True):
        for model, size in _models(result).items():
            shares = [accuracy(result, format, model, context) for context in CONTEXTS]
            axis.plot(CONTEXTS, shares, marker="o", label=f"{model}, {size}")
        axis.set_xscale("log", base=2)
        axis.set(title=LABELS[format], xlabel="context length", xticks=CONTEXTS, xticklabels=CONTEXTS, ylim=(-3, 104))
        axis.grid(alpha=0.3)
    axes[0][0].set_ylabel("accuracy on 3x3 puzzles, %")
    axes[0][0].legend(fontsize=8, title="layers x width")
    save_figure(figure, path)


EXPERIMENT = Experiment(
    name="figure-size",
    title="Model size and context length on 3x3 puzzles",
    run=run,
    table=table,
    draw=draw,
    notes=f"""\
All models are trained for the same CPU time on one thread. Where a context holds every trace, a longer one makes no
difference, and one model stands for both; where it holds none, no answer can be right, and none is trained. The paper
gives one number here: from {SMALLEST_MILLIONS}M parameters on, a {SMALLEST_LAYERS}-layer transformer, PENCIL solves the
puzzle even with a short context, and a chain of thought needs a larger model and a longer one.""",
    cost=f"12 models of {MINUTES:.0f} minutes",
)
