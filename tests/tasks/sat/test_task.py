import pytest

from pencil.errors import SizeError
from pencil.tasks.sat import Sat


def test_a_smaller_vocabulary_is_the_start_of_a_larger_one() -> None:
    assert Sat(10).words[: len(Sat(4).words)] == Sat(4).words


@pytest.mark.parametrize("size", [2, 51, -1])
def test_sizes_out_of_range_are_an_error(size: int) -> None:
    with pytest.raises(SizeError, match="try one from 3 to 50"):
        Sat(size)


def test_an_answer_is_checked() -> None:
    task = Sat(3)
    formula = task.parse("( 1 ) ∧ ( ¬ 1 )")
    assert task.check(formula, "False")
    assert not task.check(formula, "True")
    assert not task.check(formula, None)
