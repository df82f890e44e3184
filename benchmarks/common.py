"""What every benchmark shares: its two options, and a table of ours against a baseline."""

import argparse
import json
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class Row:
    """One comparison; the ratio says how many times better ours is."""

    name: str
    ours: float
    baseline: float
    ratio: float

    @classmethod
    def of_rates(cls, name: str, ours: float, baseline: float) -> "Row":
        """Compare two rates: more is better."""
        return cls(name, ours, baseline, ours / baseline)

    @classmethod
    def of_seconds(cls, name: str, ours: float, baseline: float) -> "Row":
        """Compare two durations: less is better."""
        return cls(name, ours, baseline, baseline / ours)


def run(measure: Callable[[bool], Iterable[Row]], description: str) -> None:
    """Parse the options, measure, print a table or JSON."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--quick", action="store_true", help="under a minute, rougher numbers")
    parser.add_argument("--json", action="store_true", help="print a list of rows: name, ours, baseline, ratio")
    options = parser.parse_args()
    rows = []
    for row in measure(options.quick):
        rows.append(row)
        if not options.json:
            print(f"{row.name:<60} {row.ours:>16,.4g} {row.baseline:>16,.4g} {row.ratio:>9.2f}x", flush=True)
    if options.json:
        print(json.dumps([asdict(row) for row in rows], indent=2))
