"""Evaluation by the paper's protocol: accuracy and trace rate on held-out instances, all rows at once."""

from pencil.evaluate.metrics import Outcome, Report, summarise, trace_rate
from pencil.evaluate.processes import usual_processes
from pencil.evaluate.run import evaluate, held_out_instances, longest_sequence

__all__ = [
    "Outcome",
    "Report",
    "evaluate",
    "held_out_instances",
    "longest_sequence",
    "summarise",
    "trace_rate",
    "usual_processes",
]
