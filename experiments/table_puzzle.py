"""The paper's table 2: accuracy and trace rate of CoT and PENCIL on Einstein's puzzle with 3 to 5 houses."""

from functools import partial

from experiments.comparison import COUNT, MINUTES, compare, draw, table
from experiments.experiment import Experiment, Options, Result
from experiments.paper import PUZZLES, TABLE_PUZZLE


def run(options: Options) -> Result:
    """Two models."""
    return compare(("einstein",), ("cot", "pencil"), options)


EXPERIMENT = Experiment(
    name="table-puzzle",
    title="Einstein's puzzle: accuracy and trace rate",
    run=run,
    table=partial(table, {"einstein": TABLE_PUZZLE}, PUZZLES),
    draw=partial(draw, {"einstein": TABLE_PUZZLE}, PUZZLES),
    notes="""\
One model for each format, over all sizes. Both have the same size and the same CPU time on one thread; the paper trains
25.19M parameters on 10,000 puzzles of each size. A chain of thought that has filled its window has no answer here and
counts as wrong.""",
    cost=f"2 models of {MINUTES['einstein']:.0f} minutes, {COUNT} instances of each size for each; then their times",
)
