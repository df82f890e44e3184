"""`pencil stats`: how long traces of a size are, with and without the rule."""

import json
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from pencil.cli.options import Json, Minimal, NoTail, Seed, Size, TaskName, choose_task
from pencil.cli.progress import progress_bar
from pencil.tasks.lengths import Lengths, measure_lengths


def stats(
    task: TaskName,
    size: Size = None,
    minimal: Minimal = False,
    no_tail_recursion: NoTail = False,
    count: Annotated[int, typer.Option(min=1, help="How many instances to reason out.")] = 100,
    seed: Seed = 0,
    json_: Json = False,
) -> None:
    """Longest and mean trace, peak and number of reductions over many instances.

    \b
    Examples:
      pencil stats qbf --size 6 --count 1000
      pencil stats einstein --size 5 --count 100 --json
    """
    chosen = choose_task(task, size, minimal, no_tail_recursion)
    with progress_bar(f"{task} of size {chosen.size}", count) as done:
        lengths = measure_lengths(chosen, count, seed, done)
    if json_:
        print(json.dumps(lengths.as_dict()))
    else:
        Console().print(_table(lengths))


def _table(lengths: Lengths) -> Table:
    table = Table(title=f"{lengths.count} instances of {lengths.task}, size {lengths.size}")
    table.add_column("")
    table.add_column("longest", justify="right")
    table.add_column("mean", justify="right")
    rows = [("trace (a chain of thought)", lengths.trace), ("peak (with the rule)", lengths.peak)]
    for label, spread in [*rows, ("reductions", lengths.reductions)]:
        table.add_row(label, f"{spread.longest:,}", f"{spread.mean:,.1f}")
    return table
