"""Trained models that ship with the package: one folder each, a checkpoint with its card beside the weights.

A checkpoint's `metrics.json` holds what the card says, and `README.md` is the card for people.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pencil.errors import CheckpointError
from pencil.files import survivor

HOME = Path(__file__).parent


@dataclass(frozen=True)
class Bundled:
    """A model that ships, known by the name of its folder; its weights are not read yet."""

    directory: Path
    task: str
    sizes: tuple[int, ...]
    """The problem sizes it was trained on."""
    facts: dict[str, Any]
    """What its card says."""

    @property
    def name(self) -> str:
        """As in `pencil.load(name)`."""
        return self.directory.name

    def accuracy(self, size: int) -> float:
        """How often it was right on problems of a size, by its card."""
        return accuracy_in(self.facts, size) or 0.0

    @property
    def card(self) -> str:
        """The card as Markdown."""
        return (self.directory / "README.md").read_text(encoding="utf-8")


def accuracy_in(facts: Mapping[str, Any], size: int) -> float | None:
    """How often a model was right on problems of a size, by what a checkpoint says of it; None if it does not."""
    return next((report["accuracy"] for report in facts.get("evaluation", ()) if report["size"] == size), None)


def bundled() -> list[Bundled]:
    """Every model that ships, by name."""
    return [_describe(path.parent) for path in sorted(HOME.glob("*/config.json"))]


def find(task: str, size: int) -> Bundled | None:
    """The model for a problem of this size: trained on it, or else on sizes that come nearest; of two, the better."""

    def suits(model: Bundled) -> tuple[int, float]:
        nearest = min(model.sizes, key=lambda trained: abs(size - trained))
        return -abs(size - nearest), model.accuracy(nearest)

    return max((model for model in bundled() if model.task == task), key=suits, default=None)


def locate(name: str | Path) -> Path:
    """A checkpoint's directory, given as it is, as the run that holds it, or as the name of a model that ships."""
    for path in (Path(name) / "model", Path(name), HOME / name):
        if (survivor(path) / "config.json").exists():
            return path
    if Path(name).exists():
        return Path(name)  # whose reader says what is missing
    names = ", ".join(model.name for model in bundled()) or "none"
    raise CheckpointError(f"found no directory {name} and no model of that name; models that ship: {names}")


def _describe(directory: Path) -> Bundled:
    try:
        config, facts = (
            json.loads((directory / file).read_text(encoding="utf-8")) for file in ("config.json", "metrics.json")
        )
        return Bundled(directory, config["task"], tuple(config["sizes"]), facts)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CheckpointError(f"{directory}: found {error!r}, expected a model that ships; install again") from None
