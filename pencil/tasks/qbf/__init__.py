"""Quantified Boolean formulas, decided by trying values in prefix order (paper, section 3.1 and its QBF appendix)."""

from pencil.tasks.qbf.instance import Bound, QuantifiedFormula
from pencil.tasks.qbf.task import Qbf

__all__ = ["Bound", "Qbf", "QuantifiedFormula"]
