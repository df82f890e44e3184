"""What a run of training took, from its own files."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

from pencil.errors import CheckpointError
from pencil.train.config import DataConfig
from pencil.train.data import Data

BATCHES = 100
"""Batches, evenly spaced over a run, whose mean length stands for all of them; instances follow from the seed."""


@dataclass(frozen=True)
class Cost:
    """The recipe of a run and what it took."""

    recipe: dict[str, Any]
    steps: int
    instances: int
    tokens: float
    """Packed tokens read: the mean of some batches, times the steps."""
    hours: float
    """These tokens at the median of the speeds that the run noted; a pause is no training."""

    def as_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        return asdict(self)


def training_cost(run: Path) -> Cost:
    """Read a run's recipe and journal."""
    try:
        recipe = json.loads((run / "run.json").read_text(encoding="utf-8"))
        lines = (run / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise CheckpointError(f"{run}: found {error.strerror}, expected a run of `pencil train`") from None
    speeds = {
        entry["step"]: entry["tokens_per_second"] for entry in map(json.loads, lines) if "tokens_per_second" in entry
    }
    steps = max(speeds, default=0)
    if not steps:
        raise CheckpointError(f"{run}: found no step in its journal, expected a run that was trained")
    tokens = steps * mean_tokens(recipe["data"], steps)
    return Cost(recipe, steps, steps * recipe["data"]["batch"], tokens, tokens / median(speeds.values()) / 3600)


def mean_tokens(settings: dict[str, Any], steps: int) -> float:
    """Packed tokens of a step, on average."""
    config = DataConfig(**{name: _with_numbers(value) for name, value in settings.items()})
    data, shown = Data(config), range(0, steps, max(1, steps // BATCHES))
    instances = [step * config.batch + place for step in shown for place in range(config.batch)]
    return sum(len(data.packed(instance)) for instance in instances) / len(shown)


def _with_numbers(value: Any) -> Any:
    """JSON has no numbers as keys, and problem sizes are such."""
    return {int(key): entry for key, entry in value.items()} if isinstance(value, dict) else value
