"""Options that several commands share."""

from pathlib import Path
from typing import Annotated, Any

import typer

from pencil.tasks import Format, Task, get_task

TaskName = Annotated[str, typer.Argument(metavar="TASK", help="sat, qbf or einstein.", show_default=False)]
Size = Annotated[
    int | None,
    typer.Option(help="Variables (sat, qbf) or houses (einstein).", show_default="4, for einstein 3"),
]
Minimal = Annotated[bool, typer.Option("--minimal", help="Puzzles without a spare clue (einstein).")]
NoTail = Annotated[bool, typer.Option("--no-tail-recursion", help="Keep all a call wrote until it returns (einstein).")]
Seed = Annotated[int, typer.Option(help="Everything random follows from it.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead.")]
Text = Annotated[str | None, typer.Option(help="The instance itself, in the paper's wording or a file format's.")]
File = Annotated[Path | None, typer.Option(help="Read the instance from a file.")]
FormatName = Annotated[
    Format | None,
    typer.Option(
        help="pencil erases thoughts, cot keeps them, direct answers at once.", show_default="what it was made for"
    ),
]


def choose_task(name: str, size: int | None, minimal: bool, no_tail_recursion: bool) -> Task[Any]:
    """The task that the options name; what was not asked for is not passed on, since not every task has it."""
    settings = {"minimal": True} if minimal else {}
    return get_task(name, size, **settings, **({"tail_recursion": False} if no_tail_recursion else {}))
