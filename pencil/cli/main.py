"""The command line: one table from command to function."""

import sys
from collections.abc import Callable
from typing import Any

import typer

from pencil import __version__
from pencil.cli import data, demo, eval, export, fasp, models, reproduce, solve, stats, tm, trace, train
from pencil.errors import PencilError

UsageError: Any = typer.BadParameter.__base__  # what typer raises for a wrong option; its module is private

COMMANDS: dict[str, Callable[..., None]] = {
    "demo": demo.demo,
    "solve": solve.solve,
    "models": models.models,
    "trace": trace.trace,
    "stats": stats.stats,
    "data": data.data,
    "train": train.train,
    "eval": eval.eval_,
    "reproduce": reproduce.reproduce,
    "export": export.export,
}
"""Command name to function; each function lives in a file of its own and imports what is heavy inside of it."""

app = typer.Typer(
    help="Think long in a short context: `C [CALL] T [SEP] A [RETURN]  =>  C A`.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for name, function in COMMANDS.items():
    app.command(name)(function)
app.add_typer(tm.app, name="tm")
app.add_typer(fasp.app, name="fasp")


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"pencil {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: bool = typer.Option(False, "--version", callback=_print_version, is_eager=True, help="Print the version."),
) -> None:
    pass


def _message(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return ": ".join(filter(None, (error.filename, error.strerror)))
    return error.format_message() if isinstance(error, UsageError) else str(error)


def main() -> None:
    """Run a command; bad input is one line on stderr and exit status 2."""
    try:
        status = app(standalone_mode=False)
    except (PencilError, UsageError, OSError) as error:
        message = _message(error)
        if message:  # without any argument, the help is printed already
            print(f"pencil: {message}", file=sys.stderr)
        status = 2
    sys.exit(status)
