"""Options that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

from pencil.tasks import Format

TaskName = Annotated[str, typer.Argument(metavar="TASK", help="sat, qbf or einstein.", show_default=False)]
Size = Annotated[
    int | None,
    typer.Option(help="Variables (sat, qbf) or houses (einstein).", show_default="4, for einstein 3"),
]
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
