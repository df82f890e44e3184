"""The paper's table 2: accuracy and trace rate of CoT and PENCIL on Einstein's puzzle with 3 to 5 houses."""

from functools import partial

from experiments.comparison import COUNT, MINUTES, compare, draw, table
from experiments.experiment import Experiment, Options, Result
from experiments.paper import PUZZLES, TABLE_PUZZLE

TIMES = ", ".join(f"{minutes:.0f}" for minutes in MINUTES["einstein"].values())


def run(options: Options) -> Result:
    """A model for each size and format."""
    return compare(("einstein",), ("cot", "pencil"), options)


EXPERIMENT = Experiment(
    name="table-puzzle",
    title="Einstein's puzzle: accuracy and trace rate",
    run=run,
    table=partial(table, {"einstein": TABLE_PUZZLE}, PUZZLES),
    draw=partial(draw, {"einstein": TABLE_PUZZLE}, PUZZLES),
    notes=f"""\
A model for each size and format, {TIMES} minutes on one thread for 3, 4 and 5 houses; the minutes shown are their sum.
The paper trains 25.19M parameters on 10,000 puzzles of each size. A chain of thought that has filled its window has no
answer here and counts as wrong.""",
    cost=f"2 models for each size of {TIMES} minutes, {COUNT} instances for each; then their times",
)
