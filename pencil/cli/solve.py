"""`pencil solve`: let a trained model think about a problem."""

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pencil.cli.options import Json
from pencil.cli.thinker import MASTERED, load_thinker
from pencil.errors import ParseError, PencilError
from pencil.model.pretrained import accuracy_in, find
from pencil.tasks import get_task
from pencil.tasks.base import STDIN, read_text
from pencil.tasks.recognise import recognise

if TYPE_CHECKING:
    from pencil.generate.solver import Solution, Solver


def solve(
    problem: Annotated[
        str | None,
        typer.Argument(metavar="[FILE | TEXT | -]", help="A file, the problem itself, or - for standard input."),
    ] = None,
    model: Annotated[
        str | None, typer.Option(help="A run, a checkpoint or a model's name.", show_default="one that ships")
    ] = None,
    show: Annotated[bool, typer.Option("--show", help="Watch it think, on stderr; thoughts go as they fold.")] = False,
    check: Annotated[bool, typer.Option("--check", help="Verify the answer; exit status 1 if it is wrong.")] = False,
    json_: Json = False,
) -> None:
    """Solve a problem with a trained model: the answer alone goes to stdout.

    DIMACS is taken for SAT, QDIMACS for QBF, clues for Einstein's puzzle; so are the paper's prompts. With a problem
    unlike those the model was trained on, or of a size that it is often wrong about, a note says so, and it tries.
    Without an answer the exit status is 1.

    \b
    Examples:
      pencil solve examples/formula.cnf
      pencil solve '(1 or 2 or not 3) and (not 1 or 3 or 2)' --check
      pencil solve - --show < examples/game.qdimacs
    """
    text, place = _read(problem)
    try:
        solver, instance = _pose(text, model)
    except ParseError as error:
        raise error if place is None else error.within(place) from None
    task, note = solver.task, _departure(solver, instance)
    for remark in filter(None, (task.remark(instance), note)):
        print(f"note: {remark}", file=sys.stderr)
    solution = _think(solver, instance, show)
    verified = task.check(instance, solution.answer) if check else None
    if json_:
        print(json.dumps(_as_json(solver, instance, solution, note, verified), ensure_ascii=False))
    elif solution.answer is not None:
        print(solution.answer)
    if solution.answer is None:
        print(f"no answer: {_ending(solution)}", file=sys.stderr)
    elif verified is False:
        print("the answer is wrong: the reasoner comes to another one", file=sys.stderr)
    if solution.answer is None or verified is False:
        raise typer.Exit(1)


def _read(problem: str | None) -> tuple[str, str | None]:
    """The text of the problem, and the file it is from, if any."""
    if problem is None:
        if sys.stdin.isatty():
            raise PencilError("found no problem; name a file, type the problem, or use - for standard input")
        problem = str(STDIN)
    is_typed = not problem or any(character in problem for character in "( \n")
    if os.path.exists(problem) or not is_typed:  # a single word is a file's name, perhaps misspelled
        return read_text(Path(problem)), "standard input" if Path(problem) == STDIN else problem
    return problem, None


def _pose(text: str, model: str | None) -> tuple["Solver", Any]:
    """The model, and the instance that its task reads; which task that is, the text says unless a model is named."""
    if model is not None:
        solver = load_thinker(model)
        return solver, solver.task.parse(text)
    task = get_task(recognise(text))
    instance = task.parse(text)  # before the model is loaded: a mistake is told at once
    fitting = find(task.name, task.size_of(instance))
    if fitting is None:
        raise PencilError(f"no model for {task.name} ships; train one by `pencil train` and name it with --model")
    return load_thinker(fitting.directory), instance


def _departure(solver: "Solver", instance: Any) -> str | None:
    """How a problem is unlike those that the model was trained on; one that it has no words for is an error."""
    task, sizes = solver.task, solver.checkpoint.sizes
    size = task.size_of(instance)
    trained = f"{sizes[0]} to {sizes[-1]}" if len(sizes) > 1 else str(sizes[0])
    missing = next((word for word in task.prompt(instance) if word not in solver.vocab), None)
    if missing is not None:
        raise PencilError(
            f"the model was trained on {task.name} of size {trained} and has no word {missing!r}, which this problem of"
            f" size {size} needs; train a larger one and name it with --model"
        )
    found = task.oddity(instance) if size in sizes else f"size {size}"
    if found is None:
        return _doubt(solver.checkpoint.metrics, size)
    return f"this problem has {found}, unlike those of size {trained} that the model was trained on; trying"


def _doubt(metrics: dict[str, Any], size: int) -> str | None:
    """How often the model was right about problems of this size, where that is seldom."""
    right = accuracy_in(metrics, size)
    if right is None or right >= MASTERED:
        return None
    measured = f"the model was right about {right:.0%} of the problems of size {size} that it was measured on"
    return f"{measured}; --check verifies its answer"


def _think(solver: "Solver", instance: Any, show: bool) -> "Solution":
    if not show:
        return solver.solve(instance)
    from rich.console import Console

    from pencil.cli.view import watch

    return watch(solver, instance, Console(stderr=True))


def _ending(solution: "Solution") -> str:
    stopped = solution.stopped
    reason = "its last words state none" if stopped.reason == "end" else f"it was stopped by the limit {stopped.reason}"
    return f"after {stopped.generated:,} tokens {reason}"


def _as_json(
    solver: "Solver", instance: Any, solution: "Solution", note: str | None, verified: bool | None
) -> dict[str, Any]:
    stopped = solution.stopped
    return {
        "task": solver.task.name,
        "size": solver.task.size_of(instance),
        "answer": solution.answer,
        "verified": verified,
        "stop": stopped.reason,
        "tokens": stopped.generated,
        "peak": stopped.peak,
        "reductions": stopped.reductions,
        "seconds": stopped.seconds,
        "note": note,
    }
