"""`pencil models`: the trained models that ship."""

import json
from typing import TYPE_CHECKING, Annotated

import typer

from pencil.cli.options import Json
from pencil.errors import PencilError
from pencil.model.pretrained import Bundled, bundled

if TYPE_CHECKING:
    from rich.table import Table


def models(
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="Show this model's card.")] = None,
    json_: Json = False,
) -> None:
    """List the models that ship with the package, or show the card of one: its recipe and what it was measured at.

    \b
    Examples:
      pencil models
      pencil models qbf
    """
    shown = bundled() if name is None else [_named(name)]
    if json_:
        print(json.dumps({model.name: {"task": model.task, "sizes": model.sizes, **model.facts} for model in shown}))
    elif name is not None:
        print(shown[0].card, end="")
    elif shown:
        from rich.console import Console

        Console().print(_table(shown))
    else:
        print("no model ships with this version; `pencil train` makes one")


def _named(name: str) -> Bundled:
    found = {model.name: model for model in bundled()}
    if name not in found:
        raise PencilError(f"found no model {name!r}, expected one of: {', '.join(found) or 'none ship'}")
    return found[name]


def _table(shown: list[Bundled]) -> "Table":
    from rich.table import Table

    table = Table(box=None)
    table.add_column("model")
    for column in ("sizes", "parameters", "accuracy", "trace rate"):
        table.add_column(column, justify="right")
    for model in shown:
        reports = model.facts["evaluation"]
        accuracies, rates = ([report[key] for report in reports] for key in ("accuracy", "trace_rate"))
        table.add_row(
            model.name,
            f"{model.sizes[0]} to {model.sizes[-1]}" if len(model.sizes) > 1 else str(model.sizes[0]),
            f"{model.facts['parameters'] / 1e6:.2f}M",
            _spread(accuracies),
            _spread(rates),
        )
    return table


def _spread(shares: list[float]) -> str:
    """The lowest and the highest share over the sizes, or the one that they have in common."""
    low, high = f"{min(shares):.1%}", f"{max(shares):.1%}"
    return low if low == high else f"{low} to {high}"
