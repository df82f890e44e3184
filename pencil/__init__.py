"""Long thoughts in a short context: `C [CALL] T [SEP] A [RETURN]  =>  C A`."""

from pencil.errors import ParseError, PencilError, SizeError, TraceError, VocabError
from pencil.rule import Context, Reduction, Segment, Step, reduce, replay, scaffold, segments
from pencil.tasks import TASKS, Task, get_task
from pencil.tokens import Marks, Vocab
from pencil.trace import Stats, Trace, TraceWriter, measure

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
    "measure",
    "reduce",
    "replay",
    "scaffold",
    "segments",
]
