"""`pencil data`: write a dataset of traces."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from pencil.cli.options import Minimal, NoTail, Seed, Size, TaskName, choose_task
from pencil.cli.progress import progress_bar


def data(
    task: TaskName,
    size: Size = None,
    minimal: Minimal = False,
    no_tail_recursion: NoTail = False,
    count: Annotated[int, typer.Option(min=1, help="How many instances.")] = 1000,
    seed: Seed = 0,
    out: Annotated[Path, typer.Option("--out", "-o", help="A new directory, or one to go on with.")] = Path("data"),
    workers: Annotated[int, typer.Option(min=1, help="Processes; the bytes do not depend on it.")] = 1,
) -> None:
    """Write a JSONL dataset: index, prompt, trace, answer, tokens, peak, reductions.

    Stop it at any time: the same command goes on where it stopped.

    \b
    Example:
      pencil data qbf --size 5 --count 10000 -o runs/qbf5 --workers 2
    """
    from pencil.tasks.dataset import write_dataset

    chosen = choose_task(task, size, minimal, no_tail_recursion)
    try:
        with progress_bar(f"{task} of size {chosen.size}", count) as done:
            written = write_dataset(chosen, count, seed, out, workers, done)
    except KeyboardInterrupt:
        print(f"stopped; run the same command again to go on with {out}", file=sys.stderr)
        raise typer.Exit(130) from None
    print(written)
