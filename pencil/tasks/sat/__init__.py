"""3-SAT, decided by DPLL (paper, section 3.1 and appendix "Boolean Satisfiability")."""

from pencil.tasks.sat.instance import Formula
from pencil.tasks.sat.task import Sat

__all__ = ["Formula", "Sat"]
