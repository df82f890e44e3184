"""`metrics.jsonl`: one JSON line for each look at a run; the same to tensorboard where that is installed."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pencil.files import write_atomically


class Journal:
    """Appends lines; each has a `step`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._board: Any = None
        self._first = 0  # the first step that tensorboard does not know yet

    def write(self, entry: dict[str, Any]) -> None:
        """Add one line."""
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(entry, ensure_ascii=False) + "\n")
        if self._board is None:
            self._board = _open_board(self.path.parent / "tensorboard", self._first)
        if self._board:
            for name, value in numbers(entry):
                self._board.add_scalar(name, value, entry["step"])
            self._board.flush()

    def rewind(self, step: int) -> None:
        """Drop what was written after a step, and a line that was cut off; these steps will be done again."""
        self._first = step + 1
        if not self.path.exists():
            return
        lines = [line for line in self.path.read_text(encoding="utf-8").splitlines(True) if _step_of(line) <= step]
        write_atomically(self.path, "".join(lines))


def numbers(entry: dict[str, Any], path: str = "") -> Iterator[tuple[str, float]]:
    """The numbers of an entry, each with its path; reports of several sizes are told apart by them.

    >>> list(numbers({"step": 5, "loss": 0.5, "evaluation": [{"task": "qbf", "size": 3, "accuracy": 1.0}]}))
    [('loss', 0.5), ('evaluation/size 3/accuracy', 1.0)]
    """
    for name, value in entry.items():
        if isinstance(value, list):
            for part in value:
                yield from numbers(part, f"{path}{name}/size {part['size']}/")
        elif isinstance(value, dict):
            yield from numbers(value, f"{path}{name}/")
        elif isinstance(value, int | float) and name not in ("step", "size"):
            yield path + name, value


def _open_board(directory: Path, first: int) -> Any:
    """Tensorboard, without what it may know of later steps; False where it is not installed."""
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        return False
    return SummaryWriter(directory, purge_step=first)


def _step_of(line: str) -> float:
    try:
        return float(json.loads(line)["step"])
    except (ValueError, KeyError, TypeError):
        return float("inf")
