"""The paper's figure of model size and context length: accuracy on 3x3 puzzles."""

from dataclasses import replace
from pathlib import Path

from experiments.comparison import by_size
from experiments.experiment import Experiment, Options, Result, Rows
from experiments.models import Job, hours, recipe_for
from experiments.paper import SMALLEST_LAYERS, SMALLEST_MILLIONS
from pencil.tasks import Format

MODELS = {"2x64": (2, 64, 2), "4x128": (4, 128, 4), "6x128": (6, 128, 4)}
"""Layers, width and heads. The paper's smallest that solves the puzzle has 4 layers of width 256; in the same
time it would see less than half of what the last one does."""
WINDOW = 3_072
"""What all of them can read; it holds nearly every trace of a puzzle."""
CONTEXTS = (512, 1_024, 2_048, 3_072)
"""Those of the table; the plot has all up to the window."""
FORMATS: tuple[Format, ...] = ("cot", "pencil")
LABELS = {"cot": "CoT", "pencil": "PENCIL"}
MINUTES = 25.0
GUESSED = 100 / 3
"""In percent: each of three people may be the one who is asked for."""


def run(options: Options) -> Result:
    """A model for each size and format."""
    models = list(MODELS)[:1] if options.quick else list(MODELS)
    jobs = [_job(model, format, options) for format in FORMATS for model in models]
    measured = by_size(jobs, options)
    return {"seed": options.seed, "hours": hours(measured), "sizes": models, "models": measured}


def _name(model: str, format: str) -> str:
    return f"size-{model}-{format}"


def _job(model: str, format: Format, options: Options) -> Job:
    layers, width, heads = MODELS[model]
    recipe = recipe_for("einstein3", format, options)
    config = replace(recipe.model, context=WINDOW)
    if not options.quick:
        config = replace(config, n_layers=layers, d_model=width, n_heads=heads)
    recipe = replace(recipe, data=replace(recipe.data, window=WINDOW), model=config)
    return Job(_name(model, format), recipe, None if options.quick else options.minutes or MINUTES)


def accuracy(result: Result, format: str, model: str, context: int) -> float:
    """In percent, if no more than a context could be held: only what was never longer is right."""
    [report] = result["models"][_name(model, format)]["reports"]
    right = sum(right and peak <= context for right, _, peak in report["each"])
    return 100 * float(right) / int(report["count"])


def _label(result: Result, model: str) -> str:
    parameters = result["models"][_name(model, "pencil")]["parameters"]
    return f"{model}, {parameters / 1e6:.2f}M"


def table(result: Result) -> Rows:
    """Accuracy by model and context."""
    rows = [["", *(f"context {context:,}" for context in CONTEXTS)]]
    for format in FORMATS:
        for model in result["sizes"]:
            figures = [f"{accuracy(result, format, model, context):.4g}" for context in CONTEXTS]
            rows.append([f"{LABELS[format]}, {_label(result, model)} parameters: ours", *figures])
    return rows


def draw(result: Result, path: Path) -> None:
    """A panel for each method, a curve for each model."""
    from experiments.plot import save_figure, subplots

    figure, axes = subplots(1, len(FORMATS), width=5, height=3.8, sharey=True)
    contexts = range(256, WINDOW + 1, 16)
    for axis, format in zip(axes[0], FORMATS, strict=True):
        for model in result["sizes"]:
            shares = [accuracy(result, format, model, context) for context in contexts]
            axis.plot(contexts, shares, label=_label(result, model))
        axis.axhline(GUESSED, linestyle=":", color="grey", label="guessing")
        axis.set_xscale("log", base=2)
        axis.set(title=LABELS[format], xlabel="context length", xticks=CONTEXTS, xticklabels=CONTEXTS, ylim=(-3, 104))
        axis.grid(alpha=0.3)
    axes[0][0].set_ylabel("accuracy on 3x3 puzzles, %")
    axes[0][1].legend(fontsize=8, title="layers x width, parameters")
    save_figure(figure, path)


EXPERIMENT = Experiment(
    name="figure-size",
    title="Model size and context length on 3x3 puzzles",
    run=run,
    table=table,
    draw=draw,
    notes=f"""\
All models are trained for the same CPU time on one thread, with a window of {WINDOW:,} tokens. Their accuracy with a
shorter context is the share of instances that are answered right and never need more than that; one answer in three can
be guessed. The paper gives one number here: from {SMALLEST_MILLIONS}M parameters on, a {SMALLEST_LAYERS}-layer
transformer, PENCIL solves the puzzle even with a short context, and a chain of thought needs a larger model and a
longer one.""",
    cost=f"{len(MODELS) * len(FORMATS)} models of {MINUTES:.0f} minutes",
)
