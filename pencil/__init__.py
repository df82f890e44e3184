"""Long thoughts in a short context: `C [CALL] T [SEP] A [RETURN]  =>  C A`."""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

# numpy's idle threads hold on to their cores for 2^26 ticks, and torch's wait for them meanwhile. It reads this once.
if "numpy" not in sys.modules:
    os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "20")

from pencil.errors import ParseError, PencilError, SizeError, TraceError, VocabError
from pencil.rule import Context, Reduction, Segment, Step, reduce, replay, scaffold, segments
from pencil.tasks import TASKS, Task, get_task
from pencil.tokens import Marks, Vocab
from pencil.trace import Stats, Trace, TraceWriter, measure

if TYPE_CHECKING:
    from pencil.generate.solver import Solver

__version__ = "0.1.0"

__all__ = [
    "TASKS",
    "Context",
    "Marks",
    "ParseError",
    "PencilError",
    "Reduction",
    "Segment",
    "SizeError",
    "Stats",
    "Step",
    "Task",
    "Trace",
    "TraceError",
    "TraceWriter",
    "Vocab",
    "VocabError",
    "get_task",
    "load",
    "measure",
    "reduce",
    "replay",
    "scaffold",
    "segments",
]


def load(model: str | Path, **settings: Any) -> "Solver":
    """A trained model as a solver: `pencil.load("qbf").solve(problem).answer`.

    It is named as it ships, or by the directory of a run or of a checkpoint.
    """
    from pencil.generate.solver import load as load_solver  # torch is imported by those who need it
    from pencil.model.pretrained import locate

    return load_solver(locate(model), **settings)
