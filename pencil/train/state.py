"""The state of a run on disk: one file for each saved step, written whole or not at all.

The previous file is kept, so that a broken one loses only the time since then.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from pencil.errors import CheckpointError
from pencil.files import sync

KEPT = 2
"""How many of the latest files stay."""


@dataclass(frozen=True)
class State:
    """Everything that the next step depends on; the data follow from the number of the step."""

    step: int
    """Steps done."""
    steps: int | None
    """Steps in all, or None while they are still being measured."""
    weights: dict[str, Tensor]
    optimizers: dict[str, Tensor]


def write_state(directory: Path, state: State) -> Path:
    """Write a state beside the older ones, then drop the oldest."""
    path = directory / f"{state.step:09}.safetensors"
    unfinished = path.with_suffix(".partial")
    tensors = {f"weights/{name}": value for name, value in state.weights.items()}
    tensors |= {f"optimizers/{name}": value for name, value in state.optimizers.items()}
    try:
        directory.mkdir(parents=True, exist_ok=True)
        save_file({name: value.contiguous() for name, value in tensors.items()}, unfinished, _header(state))
        sync(unfinished)
        unfinished.replace(path)
        sync(directory)
    except (OSError, SafetensorError) as error:
        unfinished.unlink(missing_ok=True)
        raise CheckpointError(f"{path}: the state of step {state.step} was not saved: {error}") from None
    for old in saved_states(directory)[KEPT:]:
        old.unlink(missing_ok=True)
    return path


def read_state(directory: Path, warn: Callable[[str], None]) -> State | None:
    """The latest state that can be read; warns of those that cannot, None if there was never one."""
    paths = saved_states(directory)
    for path in paths:
        try:
            return _read(path)
        except (OSError, SafetensorError, ValueError, KeyError) as error:
            warn(f"{path} is broken ({error}); trying the one before")
    if paths:
        raise CheckpointError(f"{directory}: found no state that can be read; start again in another directory")
    return None


def saved_states(directory: Path) -> list[Path]:
    """The files of saved states, latest first."""
    return sorted(directory.glob("*.safetensors"), reverse=True)


def _header(state: State) -> dict[str, str]:
    return {"state": json.dumps({"step": state.step, "steps": state.steps})}


def _read(path: Path) -> State:
    with safe_open(path, framework="pt") as file:
        header = json.loads(file.metadata()["state"])
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    parts: dict[str, dict[str, Tensor]] = {"weights": {}, "optimizers": {}}
    for name, value in tensors.items():
        part, rest = name.split("/", 1)
        parts[part][rest] = value
    return State(header["step"], header["steps"], parts["weights"], parts["optimizers"])
