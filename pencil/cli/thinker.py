"""A model that thinks about one problem at a time, for `solve` and `demo`."""

from pathlib import Path
from typing import TYPE_CHECKING

from pencil.model.pretrained import locate

if TYPE_CHECKING:
    from pencil.generate.solver import Solver

MOST_TOKENS = 400_000
"""Twice the longest trace of the sizes that ship."""
MASTERED = 0.95
"""How often a model has to be right about problems of a size for them to be shown unasked and solved without a note."""
REPEATS = 32
"""Copies of a stretch that count as going round in circles."""
SMALL = 5_000_000
"""Parameters up to which one row is computed on one thread: it gains nothing from more, and waits for them if busy."""


def load_thinker(model: str | Path, tokens: int = MOST_TOKENS) -> "Solver":
    """A solver for one row, which tries what is beyond its window, as in the paper, and gives up in the end."""
    import torch

    from pencil.generate.limits import Limits
    from pencil.generate.solver import load

    limits = Limits(tokens=tokens, repeats=REPEATS, overflow="truncate")
    solver = load(locate(model), rows=1, limits=limits)
    if solver.checkpoint.model.parameter_count <= SMALL:
        torch.set_num_threads(1)
    return solver
