"""`pencil eval`: how good a trained model is, by the paper's protocol."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from pencil.cli.options import FormatName, Json, Seed
from pencil.cli.progress import progress_bar
from pencil.errors import PencilError
from pencil.tasks import Format, get_task

if TYPE_CHECKING:
    from pencil.evaluate import Outcome, Report
    from pencil.model.checkpoint import Checkpoint


def eval_(
    directory: Annotated[Path, typer.Argument(metavar="MODEL", help="A run, a checkpoint or a model's name.")],
    size: Annotated[int | None, typer.Option(help="One problem size instead of all it was trained on.")] = None,
    count: Annotated[int, typer.Option(min=1, help="Held-out instances of each size.")] = 100,
    format: FormatName = None,
    seed: Seed = 0,
    rows: Annotated[int, typer.Option(min=1, help="Instances that think at the same time.")] = 64,
    processes: Annotated[
        int | None,
        typer.Option(min=1, help="Processes that share them.", show_default="one for each thread and 16 instances"),
    ] = None,
    failures: Annotated[Path | None, typer.Option(help="Where to save what went wrong.", show_default=False)] = None,
    json_: Json = False,
) -> None:
    """Accuracy, trace rate, peak, tokens and time on held-out instances, which training never sees.

    Instances that went wrong are saved for reading, up to ten of them: in a run's directory as
    failures.txt, or in the file that --failures names.

    \b
    Examples:
      pencil eval runs/qbf3
      pencil eval qbf --size 10 --count 20 --json
    """
    from pencil.evaluate.failures import write_failures
    from pencil.model.checkpoint import read
    from pencil.model.pretrained import locate

    if failures and not failures.parent.is_dir():
        raise PencilError(f"{failures}: found no directory {failures.parent}, expected one to save in; make it first")
    checkpoint = read(locate(directory))
    sizes = checkpoint.sizes if size is None else (size,)
    reports, outcomes = [], []
    for each in sizes:
        report, new = _evaluate(checkpoint, each, count, format, seed, rows, processes)
        reports.append(report)
        outcomes += new
    place = failures or (directory / "failures.txt" if (directory / "model").is_dir() else None)
    wrong = write_failures(place, outcomes) if place else 0
    if json_:
        print(json.dumps({"reports": [report.as_dict() for report in reports]}))
        return
    _print_table(reports)
    if wrong:
        print(f"what went wrong is in {place}")


def _evaluate(
    checkpoint: "Checkpoint",
    size: int,
    count: int,
    format: Format | None,
    seed: int,
    rows: int,
    processes: int | None,
) -> "tuple[Report, list[Outcome]]":
    from pencil.evaluate import evaluate, usual_processes

    task = get_task(checkpoint.task, size)
    with progress_bar(f"{task.name} of size {size}", count) as done:
        chosen = cast(Format, format or checkpoint.format)  # a checkpoint's format is checked when it is read
        asked = (checkpoint.model, checkpoint.vocab, task, chosen, count, seed, rows, done)
        return evaluate(*asked, processes=processes or usual_processes(count))


def _print_table(reports: "list[Report]") -> None:
    """One row for each size; the words of the last column may take several lines."""
    from rich.console import Console
    from rich.table import Table

    first = reports[0]
    table = Table(box=None, pad_edge=False)
    for column in ("size", "accuracy", "trace rate", "peak", "tokens", "reductions", "seconds"):
        table.add_column(column, justify="right", no_wrap=True)
    table.add_column("failures")
    for report in reports:
        table.add_row(
            str(report.size),
            f"{report.accuracy:.1%}",
            f"{report.trace_rate:.2%}",
            f"{report.peak:,}",
            f"{report.tokens:,.0f}",
            f"{report.reductions:,.1f}",
            f"{report.seconds:.2f}",
            ", ".join(f"{count} {kind}" for kind, count in report.failures.items()) or "none",
        )
    print(f"{first.task}, format {first.format}, {first.count} held-out instances of each size")
    Console().print(table)
