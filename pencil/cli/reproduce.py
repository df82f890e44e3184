"""`pencil reproduce`: a table or figure of the paper, ours beside it."""

from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer

from pencil.cli.options import Seed
from pencil.errors import PencilError


def reproduce(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="A name that --list shows.")] = None,
    list_: Annotated[bool, typer.Option("--list", help="Show the tables and figures.")] = False,
    again: Annotated[bool, typer.Option("--again", help="Run it even where a result is stored.")] = False,
    minutes: Annotated[
        float | None,
        typer.Option(min=0.01, help="CPU time to train each model for, on one thread.", show_default="as --list says"),
    ] = None,
    count: Annotated[
        int | None, typer.Option(min=1, help="Instances of each size.", show_default="the experiment's own")
    ] = None,
    seed: Seed = 0,
    use: Annotated[
        list[str] | None,
        typer.Option(metavar="MODEL=DIR", help="Take a finished run for one of the models.", show_default=False),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Seconds: a check of all parts, with no result.")] = False,
    runs: Annotated[Path, typer.Option(help="Where models are trained.")] = Path("runs/reproduce"),
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Where to write.", show_default="experiments/results")
    ] = None,
) -> None:
    """Print a table or figure of the paper beside ours, from the stored result or by running it; write JSON and a plot.

    Stop it at any time: the same command goes on where it stopped. Started twice, it shares the models among the two.

    \b
    Examples:
      pencil reproduce --list
      pencil reproduce figure-length
      OMP_NUM_THREADS=1 pencil reproduce table-sat-qbf --again --minutes 60
    """
    catalogue, kit = _experiments(), import_module("experiments.experiment")
    if list_:
        _print_list(catalogue)
        return
    if name not in catalogue:
        found = "no name" if name is None else repr(name)
        raise PencilError(f"found {found}, expected one of {', '.join(catalogue)}")
    experiment = catalogue[name]
    folder = out or (runs / "quick" if quick else kit.RESULTS)
    place, measured = (runs / "quick", None) if quick else (runs, None if again else folder / "measured")
    options = kit.Options(minutes, count, seed, quick, place, measured, _sources(use or []))
    result = None if again or quick else experiment.stored(folder)
    if result is None:
        result = experiment.make(options)
        experiment.store(result, folder)
    elif options.asked and options.asked != result.get("asked", {}):
        raise PencilError(f"{folder} holds a {name} made with other options; run it with --again, or to another --out")
    print(kit.as_text(experiment.table(result)))
    print(f"\n{result['hours']:.2f} CPU hours, {result['machine']}; {folder / experiment.file}.json and .png")


def _experiments() -> Any:
    """They stand beside the package, above it: a clone of the repository has them, an installed wheel has not."""
    try:
        return import_module("experiments.catalogue").EXPERIMENTS
    except ModuleNotFoundError as error:
        raise PencilError(f"found no {error.name}; run this in a clone of the repository, with `make demo`") from None


def _print_list(catalogue: Any) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None)
    for column in ("name", "what it shows", "stored", "what it takes"):
        table.add_column(column, no_wrap=column == "name")
    for each in catalogue.values():
        table.add_row(each.name, each.title, "no" if each.stored() is None else "yes", each.cost)
    Console().print(table)


def _sources(use: list[str]) -> dict[str, Path]:
    pairs = [given.partition("=") for given in use]
    for model, _, directory in pairs:
        if not model or not directory:
            raise PencilError(f"found --use {model or '='!r}, expected MODEL=DIR such as sat-pencil=runs/sat")
    return {model: Path(directory) for model, _, directory in pairs}
