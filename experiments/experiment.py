"""What an experiment is: it runs or loads, shows the paper beside ours, and stores JSON and a plot."""

import json
import os
import platform
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pencil.files import write_atomically

RESULTS = Path(__file__).parent / "results"
Result = dict[str, Any]
Rows = Sequence[Sequence[str]]
"""A table; its first row is the header."""


@dataclass(frozen=True)
class Options:
    """What a person may ask for."""

    minutes: float | None = None
    """CPU time to train each model for, on one thread; None means the experiment's own."""
    count: int | None = None
    """Instances of each size; None means the experiment's own."""
    seed: int = 0
    quick: bool = False
    """Seconds instead of hours: models and sizes that show only that all parts work."""
    runs: Path = Path("runs/reproduce")
    """Where models are trained; a stopped experiment goes on from there."""
    measured: Path | None = None
    """Where to keep what was measured of each model, so that another machine can go on; None means beside its run."""
    use: Mapping[str, Path] = field(default_factory=dict)
    """Finished runs to take instead of training: the name of a model, and the run's directory."""

    @property
    def asked(self) -> Result:
        """What a result depends on, where it is not the experiment's own."""
        use = {model: str(directory) for model, directory in self.use.items()}
        asked = {"minutes": self.minutes, "count": self.count, "seed": self.seed, "use": use}
        return {name: value for name, value in asked.items() if value}


@dataclass(frozen=True)
class Experiment:
    """A table or figure of the paper."""

    name: str
    title: str
    run: Callable[[Options], Result]
    table: Callable[[Result], Rows]
    """The paper's numbers beside ours."""
    draw: Callable[[Result, Path], None]
    notes: str
    """What a reader should know, as Markdown."""
    cost: str
    """About how long it takes, on one thread."""

    def make(self, options: Options) -> Result:
        """Run it; note on what, and how long it took where it does not say so itself."""
        start = time.process_time()
        result = self.run(options)
        cost = {"machine": machine(), "hours": (time.process_time() - start) / 3600}
        return {**cost, "asked": options.asked, **result}

    def stored(self, folder: Path = RESULTS) -> Result | None:
        """The result that an earlier run left, if any."""
        path = folder / f"{self.file}.json"
        return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None

    def store(self, result: Result, folder: Path) -> None:
        """Write the numbers, then the plot."""
        folder.mkdir(parents=True, exist_ok=True)
        write_atomically(folder / f"{self.file}.json", json.dumps(result, indent=1) + "\n")
        self.draw(result, folder / f"{self.file}.png")

    @property
    def file(self) -> str:
        """The name of its files, without their endings."""
        return self.name.replace("-", "_")


def machine() -> str:
    """What this computer is, for the record."""
    return f"{os.cpu_count()} cores, {platform.machine()}"


def as_text(rows: Rows) -> str:
    """A table for the terminal: the first column to the left, the others to the right.

    >>> print(as_text([["", "paper", "ours"], ["SAT", "100", "99.5"]]))
         paper  ours
    SAT    100  99.5
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])] for row in rows)
    return "\n".join("  ".join(cells).rstrip() for cells in lines)


def as_markdown(rows: Rows) -> str:
    """The same for a page.

    >>> print(as_markdown([["", "paper"], ["SAT", "100"]]))
    |  | paper |
    |---|---:|
    | SAT | 100 |
    """
    header, *body = ("| " + " | ".join(row) + " |" for row in rows)
    return "\n".join((header, "|---" + "|---:" * (len(rows[0]) - 1) + "|", *body))
