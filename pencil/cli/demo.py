"""`pencil demo`: watch problems being thought through and erased."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from pencil.cli.options import Seed
from pencil.cli.thinker import MASTERED, load_thinker
from pencil.cli.view import ThinkingView, pause_for, watch
from pencil.model.pretrained import Bundled, bundled, find
from pencil.tasks import TASKS, Task, get_task
from pencil.tokens import END, join

LONGEST = 8_000
"""Tokens of the longest trace that a person should wait for."""
PATIENCE = 2
"""How many times the tokens of the reasoner's trace a model may take."""
CANDIDATES = 16
"""Problems to choose one from that is not too long."""


def demo(
    task: Annotated[str | None, typer.Option(help="sat, qbf or einstein.", show_default="all three")] = None,
    size: Annotated[
        int | None,
        typer.Option(help="Variables (sat, qbf) or houses (einstein).", show_default="the largest that is mastered"),
    ] = None,
    seed: Seed = 0,
    seconds: Annotated[float, typer.Option(min=0.0, help="How long to play each problem at least.")] = 15.0,
) -> None:
    """Watch problems being thought through: thoughts appear, fold away, and the answer stays.

    The models that ship think live, about problems that they were not trained on. Where none ships for a task, the
    reasoner's trace is played.

    \b
    Examples:
      pencil demo
      pencil demo --task qbf --size 5 --seconds 30
    """
    console, names = Console(), [task] if task else list(TASKS)
    for name in names:
        get_task(name, size)  # a size that a task does not have is told before anything is played
    rows = [_show(name, size, seed, seconds, console) for name in names]
    console.print(_table(rows))


@dataclass(frozen=True)
class Row:
    """How one problem went."""

    task: Task[Any]
    generated: int
    peak: int
    held: int
    """What a chain of thought would have held in the end: the prompt and all that was generated."""
    seconds: float | None
    """What the model took, if there was one."""
    answer: str | None
    verified: bool


def _show(name: str, size: int | None, seed: int, seconds: float, console: Console) -> Row:
    """Pose a problem, show how it is thought through, and verify the answer."""
    size = size or _largest_mastered(name)
    task, model = get_task(name, size), find(name, size)
    if model is None or size not in model.sizes:
        return _play(task, task.draw(seed), seconds, console)
    return _think(model, task, _held_out(task, seed), seconds, console)


def _largest_mastered(name: str) -> int:
    """The largest size of a task that a model is mostly right about, or that one was trained on; else the usual one."""
    models = [model for model in bundled() if model.task == name]
    learned = [(size, model.accuracy(size)) for model in models for size in model.sizes]
    mastered = [size for size, accuracy in learned if accuracy >= MASTERED]
    return max(mastered or [size for size, _ in learned] or [get_task(name).size])


def _held_out(task: Task[Any], seed: int) -> Any:
    """A problem that no model was trained on, and that does not take too long."""
    from pencil.evaluate import held_out_instances

    instances = held_out_instances(task, CANDIDATES, seed)
    return next((instance for instance in instances if len(task.trace(instance)) <= LONGEST), instances[0])


def _play(task: Task[Any], instance: Any, seconds: float, console: Console) -> Row:
    """The reasoner's trace as if it were being thought."""
    _pose(task, instance, "no model ships for it, so the reasoner thinks", console)
    trace = task.trace(instance)
    view = ThinkingView(trace.prompt, console, len(trace))
    view.play(trace.generated, pause_for(trace.generated, seconds))
    answer = task.answer(trace.final)
    _conclude(trace.final, console)
    return Row(task, len(trace.generated), view.context.peak, len(trace), None, answer, task.check(instance, answer))


def _think(model: Bundled, task: Task[Any], instance: Any, seconds: float, console: Console) -> Row:
    """A model, live; one that is lost is stopped."""
    trace = task.trace(instance)
    solver = load_thinker(model.directory, tokens=PATIENCE * len(trace))
    count = solver.checkpoint.model.parameter_count
    _pose(task, instance, f"a transformer with {count / 1e6:.1f}M parameters thinks", console)
    solution = watch(solver, instance, console, len(trace), pause_for(trace.generated, seconds))
    stopped, answer = solution.stopped, solution.answer
    _conclude(solver.vocab.decode(stopped.response), console)
    held = len(trace.prompt) + stopped.generated
    return Row(task, stopped.generated, stopped.peak, held, stopped.seconds, answer, task.check(instance, answer))


def _pose(task: Task[Any], instance: Any, thinker: str, console: Console) -> None:
    console.rule(f"{task.name}, size {task.size}: {thinker}")
    console.print(join(task.question(instance)), markup=False, highlight=False)
    console.print()


def _conclude(response: Iterable[str], console: Console) -> None:
    console.print(join(word for word in response if word != END), markup=False, highlight=False)
    console.print()


def _table(rows: list[Row]) -> Table:
    table = Table(title="What was thought, what was held, and what a chain of thought would have held")
    table.add_column("task", no_wrap=True)
    for column in ("tokens thought", "peak context", "chain of thought", "seconds"):
        table.add_column(column, justify="right")
    table.add_column("answer", no_wrap=True)
    table.add_column("verified")
    for row in rows:
        table.add_row(
            f"{row.task.name} {row.task.size}",
            f"{row.generated:,}",
            f"{row.peak:,}",
            f"{row.held:,}",
            "" if row.seconds is None else f"{row.seconds:.1f}",
            row.answer or "none",
            "yes" if row.verified else "no",
        )
    return table
