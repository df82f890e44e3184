"""`pencil trace`: reason one instance out and show the trace."""

import json
import sys
from dataclasses import replace
from typing import Annotated, Any

import typer

from pencil.cli.options import File, Json, Minimal, NoTail, Seed, Size, TaskName, Text, choose_task
from pencil.errors import PencilError
from pencil.tasks import Format, Task
from pencil.tokens import join
from pencil.trace import Stats, Trace

Round = dict[str, str | None]
"""A generation and its reduction, as text."""


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

    The trace goes to stdout, its sizes to stderr. An instance from --text or --file has its own size. As in the paper,
    the prompt of a QBF counts clauses from 1 and its thoughts from 0. Clues of einstein are sentences about two of
    these values, or about one and a house; left and right mean immediately so: Red Green Blue Yellow White, Brit Swede
    German Dane Norwegian, Tea Coffee Milk Beer Water, Pall Mall Dunhill Blend Blue Master Prince, Dogs Birds Fish Cats
    Horses.

    \b
    Examples:
      pencil trace qbf --seed 1 --steps
      pencil trace sat --file problem.cnf --json
      pencil trace sat --text '( 1 ∨ 2 ) ∧ ( ¬ 1 )'
    """
    chosen = choose_task(task, size, minimal, no_tail_recursion)
    instance = _instance(chosen, seed, text, file)
    remark = chosen.remark(instance)
    if remark is not None:
        print(f"note: {remark}", file=sys.stderr)
    written = chosen.trace(instance, format)
    stats = _stats(written, format)
    rounds = _rounds(written, format) if steps else []
    if json_:
        report = _as_json(chosen, written, stats)
        print(json.dumps(report | ({"steps": rounds} if steps else {}), ensure_ascii=False))
        return
    print(join(written.prompt))
    if steps:
        for number, shown in enumerate(rounds, start=1):
            _print_round(number, shown)
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


def _rounds(written: Trace[str], format: Format) -> list[Round]:
    """Every generation after the prompt, and what its reduction leaves; without the rule there is one generation."""
    if format != "pencil":
        return [{"generation": join(written.generated), "reduction": None}]
    prompt = len(written.prompt)
    return [
        {
            "generation": join(step.before.tokens[prompt:]),
            "reduction": None if step.reduction is None else join(step.after[prompt:]),
        }
        for step in written.steps()
    ]


def _print_round(number: int, shown: Round) -> None:
    final = shown["reduction"] is None
    print(f"\nModel Generation ({'Final Response' if final else number})\n{shown['generation']}")
    if not final:
        print(f"\nReduction Rule ({number})\n{shown['reduction']}")
