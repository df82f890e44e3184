"""`metrics.jsonl`: one JSON line for each look at a run; the same to tensorboard where that is installed."""

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from pencil.files import write_atomically


class Journal:
    """Appends lines; each has a `step`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._board: Any = None

    def write(self, entry: dict[str, Any]) -> None:
        """Add one line."""
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(entry, ensure_ascii=False) + "\n")
        if find_spec("tensorboard") is not None:
            self._write_board(entry)

    def rewind(self, step: int) -> None:
        """Drop what was written after a step, and a line that was cut off; these steps will be done again."""
        if not self.path.exists():
            return
        lines = [line for line in self.path.read_text(encoding="utf-8").splitlines(True) if _step_of(line) <= step]
        write_atomically(self.path, "".join(lines))

    def _write_board(self, entry: dict[str, Any]) -> None:
        if self._board is None:
            from torch.utils.tensorboard import SummaryWriter  # optional

            self._board = SummaryWriter(self.path.parent / "tensorboard")
        for name, value in entry.items():
            if name != "step" and isinstance(value, int | float):
                self._board.add_scalar(name, value, entry["step"])


def _step_of(line: str) -> float:
    try:
        return float(json.loads(line)["step"])
    except (ValueError, KeyError, TypeError):
        return float("inf")
