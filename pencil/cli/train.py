"""`pencil train`: train a model by a recipe."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pencil.cli.options import FormatName
from pencil.errors import PencilError
from pencil.tasks import get_task

if TYPE_CHECKING:
    from pencil.model.transformer import Transformer
    from pencil.train.config import Recipe
    from pencil.train.loop import Evaluate

EVALUATED = 100
"""Held-out instances of an evaluation, shared among the sizes of a recipe."""


def train(
    recipe: Annotated[str | None, typer.Argument(metavar="RECIPE", help="A name that --list shows.")] = None,
    format: FormatName = None,
    steps: Annotated[int | None, typer.Option(help="Instead of the recipe's.", show_default=False)] = None,
    minutes: Annotated[float | None, typer.Option(help="As many steps as fit.", show_default=False)] = None,
    seed: Annotated[int | None, typer.Option(help="Of data and weights.", show_default=False)] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="A new directory.", show_default="runs/RECIPE")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the run in this directory.")] = False,
    device: Annotated[str, typer.Option(help="cpu, cuda or mps.")] = "cpu",
    workers: Annotated[int, typer.Option(min=0, help="Processes that draw instances ahead of the step.")] = 1,
    threads: Annotated[int | None, typer.Option(min=1, help="CPU threads.", show_default="all cores")] = None,
    bf16: Annotated[bool, typer.Option("--bf16", help="Compute in bfloat16; for GPUs.")] = False,
    compile_: Annotated[bool, typer.Option("--compile", help="Compile the model; for GPUs.")] = False,
    list_: Annotated[bool, typer.Option("--list", help="Show the recipes.")] = False,
) -> None:
    """Train a model; stop it at any time and go on with --resume, as if it had never stopped.

    Many machines: run the same command under torchrun, such as
    `torchrun --nproc-per-node 2 -m pencil train qbf3`.

    \b
    Examples:
      pencil train --list
      pencil train qbf3
      pencil train qbf3 --format cot --minutes 10 --out runs/qbf3-cot
    """
    if list_:
        _print_recipes()
        return
    if recipe is None:
        raise PencilError("found no recipe; name one that `pencil train --list` shows")
    from pencil.cli.live import live_line
    from pencil.recipes import adjust, get_recipe
    from pencil.train.loop import Hooks, Machine
    from pencil.train.loop import train as run

    chosen = adjust(get_recipe(recipe), format, steps, minutes, seed)
    directory = out or Path("runs") / (recipe if format is None else f"{recipe}-{format}")
    with live_line(recipe) as (report, say):
        hooks = Hooks(_evaluator(chosen, say), report, say)
        trainer = run(chosen, directory, Machine(device, workers, threads, bf16, compile_), hooks, resume=resume)
    if not trainer.world.leads:
        return
    if not trainer.done:
        again = [argument for argument in sys.argv[1:] if argument != "--resume"]
        print(f"stopped at step {trainer.step}; go on with: pencil {' '.join(again)} --resume", file=sys.stderr)
        raise typer.Exit(130)
    print(directory)


def _evaluator(recipe: "Recipe", say: Callable[[str], None]) -> "Evaluate":
    """Evaluates every size of a recipe and tells the result."""
    from pencil.evaluate import evaluate

    data = recipe.data
    tasks = [get_task(data.task, size) for size in data.sizes]

    def run(model: "Transformer") -> dict[str, Any]:
        reports = []
        for task in tasks:
            vocab = max(tasks, key=lambda task: task.size).vocab
            report, _ = evaluate(model, vocab, task, data.format, max(10, EVALUATED // len(tasks)))
            say(f"size {task.size}: accuracy {report.accuracy:.1%}, trace rate {report.trace_rate:.2%}")
            reports.append(report.as_dict())
        return {"evaluation": reports}

    return run


def _print_recipes() -> None:
    from rich.console import Console
    from rich.table import Table

    from pencil.recipes import RECIPES

    table = Table(box=None)
    for column in ("recipe", "what it trains", "steps"):
        table.add_column(column)
    for name, function in RECIPES.items():
        table.add_row(name, (function.__doc__ or "").rstrip("."), f"{function().train.steps:,}")
    Console().print(table)
