"""`pencil trace`: reason one instance out and show the trace."""

import json
import sys
from dataclasses import replace
from typing import Annotated, Any

import typer

from pencil.cli.options import File, Json, Minimal, NoTail, Seed, Size, TaskName, Text, choose_task
from pencil.errors import PencilError
from pencil.rule import Step
from pencil.tasks import Format, Task
from pencil.tokens import join
from pencil.trace import Stats, Trace


def trace(
    task: TaskName,
    size: Size = None,
    minimal: Minimal = False,
    no_tail_recursion: NoTail = False,
    seed: Seed = 0,
    text: Text = None,
    file: File = None,
    format: Annotated[Format, typer.Option(help="Thoughts erased, nothing erased, or the answer at once.")] = "pencil",
    steps: Annotated[bool, typer.Option("--steps", help="Show every generation and every reduction.")] = False,
    json_: Json = False,
) -> None:
    """Reason one instance out, and show the trace with its marks.

    The trace goes to stdout, its sizes to stderr. As in the paper, the prompt of a QBF counts clauses from 1 and its
    thoughts from 0. Clues of einstein are sentences about two of these, or one and a house; left and right mean
    immediately so: Red Green Blue Yellow White, Brit Swede German Dane Norwegian, Tea Coffee Milk Beer Water, Pall Mall
    Dunhill Blend Blue Master Prince, Dogs Birds Fish Cats Horses.

    \b
    Examples:
      pencil trace qbf --seed 1 --steps
      pencil trace sat --file problem.cnf --json
      pencil trace sat --text '( 1 ∨ 2 ) ∧ ( ¬ 1 )'
    """
    if steps and (json_ or format != "pencil"):
        raise PencilError("found --steps with --json or another format, expected it alone; only erasing has steps")
    chosen = choose_task(task, size, minimal, no_tail_recursion)
    if size is not None and not (text is None and file is None):
        raise PencilError("found --size with --text or --file, expected it alone; it is the size of a random instance")
    instance = _instance(chosen, seed, text, file)
    remark = chosen.remark(instance)
    if remark is not None:
        print(f"note: {remark}", file=sys.stderr)
    written = chosen.trace(instance, format)
    stats = _stats(written, format)
    if json_:
        print(json.dumps(_as_json(chosen, written, stats), ensure_ascii=False))
        return
    print(join(written.prompt))
    if steps:
        for number, step in enumerate(written.steps(), start=1):
            _print_step(number, step, len(written.prompt))
    else:
        print(join(written.generated))
    print(summary(stats), file=sys.stderr)


def summary(stats: Stats) -> str:
    """The sizes of a trace in one line.

    >>> print(summary(Stats(1500, 300, 20, 0, 4, 1, 1)))
    1,500 tokens in all, never more than 300 at once (reductions: 20, depth: 4)
    """
    return (
        f"{stats.tokens:,} tokens in all, never more than {stats.peak:,} at once"
        f" (reductions: {stats.reductions:,}, depth: {stats.depth})"
    )


def _instance(task: Task[Any], seed: int, text: str | None, file: Any) -> Any:
    if text is not None and file is not None:
        raise PencilError("found both --text and --file, expected one of them; leave one out")
    if text is not None:
        return task.parse(text)
    return task.draw(seed) if file is None else task.read(file)


def _stats(written: Trace[str], format: Format) -> Stats:
    stats = written.stats()
    return stats if format == "pencil" else replace(stats, peak=stats.tokens, reductions=0)


def _as_json(task: Task[Any], written: Trace[str], stats: Stats) -> dict[str, Any]:
    return {
        "task": task.name,
        "prompt": join(written.prompt),
        "trace": join(written.generated),
        "answer": task.answer(written.final),
        "tokens": stats.tokens,
        "peak": stats.peak,
        "reductions": stats.reductions,
        "depth": stats.depth,
        "attention_cost": {"pencil": stats.cost_pencil, "cot": stats.cost_cot},
    }


def _print_step(number: int, step: Step[str], prompt: int) -> None:
    if step.reduction is None:
        print(f"\nModel Generation (Final Response)\n{join(step.after[prompt:])}")
        return
    print(f"\nModel Generation ({number})\n{join(step.before.tokens[prompt:])}")
    print(f"\nReduction Rule ({number})\n{join(step.after[prompt:])}")
