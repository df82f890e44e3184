"""Every table and figure, by name."""

from experiments import (
    figure_convergence,
    figure_length,
    figure_size,
    figure_theory,
    figure_time,
    table_puzzle,
    table_sat_qbf,
)

MODULES = (table_sat_qbf, table_puzzle, figure_length, figure_time, figure_convergence, figure_size, figure_theory)
EXPERIMENTS = {module.EXPERIMENT.name: module.EXPERIMENT for module in MODULES}
