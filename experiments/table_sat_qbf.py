"""The paper's table 1: accuracy and trace rate of the baseline, CoT and PENCIL on SAT and QBF, n = 3 to 10."""

from functools import partial

from experiments.comparison import COUNT, MINUTES, compare, draw, table
from experiments.experiment import Experiment, Options, Result
from experiments.paper import SIZES, TABLE_SAT_QBF


def run(options: Options) -> Result:
    """Six models: two tasks, three formats."""
    return compare(("sat", "qbf"), ("direct", "cot", "pencil"), options)


EXPERIMENT = Experiment(
    name="table-sat-qbf",
    title="SAT and QBF: accuracy and trace rate",
    run=run,
    table=partial(table, TABLE_SAT_QBF, SIZES),
    draw=partial(draw, TABLE_SAT_QBF, SIZES),
    notes="""\
One model for each task and format, over all sizes. All have the same size and the same CPU time on one thread; the
paper trains 10.63M parameters until they converge. A chain of thought that has filled its window has no answer here and
counts as wrong, where the paper's goes on with the tokens that fit.""",
    cost=f"6 models of {MINUTES['sat']['sat']:.0f} minutes, {COUNT} instances of each size for each; then their times",
)
