"""`run.json`: what a run was started with, so that it goes on with the same; free of torch."""

import json
from pathlib import Path
from typing import Any

from pencil.errors import CheckpointError, PencilError
from pencil.files import failure, write_atomically
from pencil.train.config import Recipe


def claim(out: Path, recipe: Recipe) -> None:
    """Make a new run's directory."""
    path = out / "run.json"
    if path.exists():
        raise CheckpointError(f"{out}: found a run; go on with it by --resume, or choose another --out")
    try:
        out.mkdir(parents=True, exist_ok=True)
        write_recipe(out, recipe)
    except OSError as error:
        raise CheckpointError(f"{failure(error, out)}, expected a place for a run; try another --out") from None


def write_recipe(out: Path, recipe: Recipe) -> None:
    """Note what a run is told."""
    write_atomically(out / "run.json", json.dumps(recipe.to_json(), indent=2) + "\n")


def read_recipe(out: Path) -> Recipe:
    """What a run was told."""
    path = out / "run.json"
    try:
        return Recipe.from_json(json.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        raise CheckpointError(f"{out}: found no run to go on with; start it without --resume") from None
    except (OSError, ValueError, TypeError, KeyError, AttributeError, PencilError) as error:
        raise CheckpointError(f"{path}: found {error}, expected what a run was started with") from None


def require_same(out: Path, recipe: Recipe) -> None:
    """See that a directory holds the very run to go on with; only its number of steps may change."""
    found: dict[str, Any] = read_recipe(out).to_json()
    for part, settings in recipe.to_json().items():
        for name, value in settings.items():
            longer = name == "steps" or (name == "minutes" and value is None)
            if found[part][name] != value and not longer:
                raise CheckpointError(
                    f"{out}: the run was started with {part} {name} = {found[part][name]}, not {value};"
                    " resume it without this option"
                )
