"""`pencil train`: train a model by a recipe."""

import os
import shlex
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from pencil.cli.options import FormatName
from pencil.errors import PencilError
from pencil.tasks import Format, Task, get_task

if TYPE_CHECKING:
    from pencil.cli.live import Line
    from pencil.model.transformer import Transformer
    from pencil.train.config import Recipe
    from pencil.train.loop import Evaluate

Device = Literal["cpu", "cuda", "mps"]
EVALUATED = 100
"""Held-out instances of an evaluation, shared among the sizes of a recipe."""


def train(
    recipe: Annotated[str | None, typer.Argument(metavar="RECIPE", help="A name that --list shows.")] = None,
    format: FormatName = None,
    steps: Annotated[int | None, typer.Option(help="Instead of the recipe's.", show_default=False)] = None,
    minutes: Annotated[float | None, typer.Option(help="As many steps as fit.", show_default=False)] = None,
    seed: Annotated[int | None, typer.Option(help="Of data and weights.", show_default=False)] = None,
    hints: Annotated[
        bool | None,
        typer.Option(help="Also learn what a task hints at, or the trace alone.", show_default=False),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="A new directory.", show_default="runs/RECIPE")
    ] = None,
    start: Annotated[
        str | None,
        typer.Option(
            metavar="MODEL",
            help="Begin with its weights: a directory, or a name. One with fewer layers grows.",
            show_default="at random",
        ),
    ] = None,
    rate: Annotated[float | None, typer.Option(help="The highest learning rate.", show_default="the recipe's")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the run in this directory.")] = False,
    device: Annotated[Device, typer.Option(help="What to compute on.")] = "cpu",
    workers: Annotated[int, typer.Option(min=0, help="Processes that draw instances ahead of the step.")] = 1,
    threads: Annotated[int | None, typer.Option(min=1, help="CPU threads.", show_default="all cores")] = None,
    bf16: Annotated[bool, typer.Option("--bf16", help="Compute in bfloat16; for GPUs, and CPUs that have it.")] = False,
    native: Annotated[
        bool,
        typer.Option("--native/--no-native", help="What is fastest on this CPU, or torch's own ways alone."),
    ] = True,
    compile_: Annotated[bool, typer.Option("--compile", help="Compile the model; for GPUs.")] = False,
    list_: Annotated[bool, typer.Option("--list", help="Show the recipes.")] = False,
) -> None:
    """Train a model; stop it at any time and go on with --resume, as if it had never stopped.

    A resumed run takes its recipe, format, length, rate and seed from its directory. With --steps it
    goes on to so many steps in all, from then on at the learning rates of a run of that length.

    Its figures go to metrics.jsonl in that directory, and to tensorboard where it is installed.

    Many machines: run the same command under torchrun, such as
    `torchrun --nproc-per-node 2 -m pencil train qbf3`. On one CPU a plain `pencil train` is
    faster: each thread computes the gradient of its share of the batch.

    \b
    Examples:
      pencil train --list
      pencil train qbf3
      pencil train qbf3 --resume
      pencil train qbf3 --format cot --minutes 10 --out runs/qbf3-cot
      pencil train qbf --start qbf --seed 1 --rate 1e-3 --steps 500 --out runs/qbf-more
    """
    if list_:
        _print_recipes()
        return
    if recipe is None and not (resume and out):
        raise PencilError("found no recipe; name one that `pencil train --list` shows")
    directory = out or Path("runs") / (f"{recipe}-{format}" if format else f"{recipe}")
    chosen = _chosen(recipe, directory, resume, format, steps, minutes, seed, hints, start, rate)
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # threads that spin would hold back those at work

    from pencil.cli.live import live_line
    from pencil.train.bf16 import has_bf16
    from pencil.train.loop import Hooks, Machine
    from pencil.train.loop import train as run

    with live_line(directory.name) as line:
        if bf16 and device == "cpu" and not has_bf16():
            line.say("this CPU has no instructions for bfloat16; without --bf16 it may be many times faster")
        hooks = Hooks(_evaluator(chosen, line), line.report, line.say)
        machine = Machine(device, workers, threads, bf16, native, compile_)
        trainer = run(chosen, directory, machine, hooks, resume=resume)
    if not trainer.world.leads:
        return
    if not trainer.done:
        again = [argument for argument in sys.argv[1:] if argument != "--resume"]
        print(f"stopped at step {trainer.step}; go on with: pencil {shlex.join(again)} --resume", file=sys.stderr)
        raise typer.Exit(130)
    print(directory)


def _chosen(
    name: str | None,
    directory: Path,
    resume: bool,
    format: Format | None,
    steps: int | None,
    minutes: float | None,
    seed: int | None,
    hints: bool | None,
    start: str | None,
    rate: float | None,
) -> "Recipe":
    """The recipe of a run: by name, or as the run in the directory was started, changed by the options given."""
    from pencil.recipes import adjust, get_recipe
    from pencil.train.claim import read_recipe, require_same

    if not resume:
        return adjust(get_recipe(name or ""), format, steps, minutes, seed, hints, start, rate)
    started = read_recipe(directory)
    if name is not None:
        _require_alike(directory, started, name, get_recipe(name))
    if steps is not None:
        started = replace(started, train=replace(started.train, minutes=None))
    start = None if start == started.train.start else start
    chosen = adjust(started, format, steps, minutes, seed, hints, start, rate)
    require_same(directory, chosen)
    return chosen


def _require_alike(directory: Path, started: "Recipe", name: str, named: "Recipe") -> None:
    """A run that is named is one of that task and these sizes; the rest of a recipe may have changed since."""
    found, expected = (
        f"{recipe.data.task} of size {', '.join(map(str, recipe.data.sizes))}" for recipe in (started, named)
    )
    if found != expected:
        raise PencilError(f"{directory}: found a run on {found}, but {name} is on {expected}; choose another --out")


def _evaluator(recipe: "Recipe", line: "Line") -> "Evaluate":
    """Evaluates every size of a recipe and tells the result."""
    from pencil.evaluate import evaluate, usual_processes

    data = recipe.data
    tasks = [get_task(data.task, size) for size in data.sizes]
    vocab = max(tasks, key=lambda task: task.size).vocab
    count = max(10, EVALUATED // len(tasks))

    def evaluate_size(model: "Transformer", task: Task[Any]) -> dict[str, Any]:
        def progress(done: int) -> None:
            line.show(f"evaluating size {task.size}, {done} of {count} instances")

        progress(0)
        processes = usual_processes(count)
        report, _ = evaluate(model, vocab, task, data.format, count, progress=progress, processes=processes)
        line.say(f"size {task.size}: accuracy {report.accuracy:.1%}, trace rate {report.trace_rate:.2%}")
        return report.as_dict()

    return lambda model: {"evaluation": [evaluate_size(model, task) for task in tasks]}


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
