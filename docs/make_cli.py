"""Write docs/cli.md, the help of every command.

python docs/make_cli.py
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer
from typer.testing import CliRunner

from pencil.cli.main import app

PAGE = Path(__file__).parent / "cli.md"


def commands(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The words of every command, `()` for the program itself."""
    yield path
    for name, child in getattr(command, "commands", {}).items():
        yield from commands(child, (*path, name))


def help_of(words: tuple[str, ...]) -> str:
    """What `--help` prints on a terminal of 100 columns."""
    plain = {"COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb"}
    shown = CliRunner().invoke(app, [*words, "--help"], prog_name="pencil", env=plain).stdout
    return "\n".join(row.rstrip() for row in shown.strip().splitlines())


def page() -> str:
    """The whole page."""
    sections = [
        f"## `{' '.join(('pencil', *words))}`\n\n```text\n{help_of(words)}\n```"
        for words in commands(typer.main.get_command(app))
    ]
    return "\n\n".join(("# Commands\n\nMade by `python docs/make_cli.py`; a test keeps it true.", *sections, ""))


if __name__ == "__main__":
    PAGE.write_text(page())
