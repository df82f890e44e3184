import pytest

from pencil.errors import PencilError
from pencil.tasks.qbf import Bound, QuantifiedFormula


def test_a_variable_is_bound_once() -> None:
    with pytest.raises(PencilError, match="binds a variable twice"):
        QuantifiedFormula((Bound("∀", 1), Bound("∃", 1)), ())


def test_every_variable_is_bound() -> None:
    with pytest.raises(PencilError, match=r"clause 2 is \(-3,\), which holds a variable"):
        QuantifiedFormula((Bound("∀", 1),), ((1,), (-3,)))
