import pytest

from pencil.errors import SizeError
from pencil.tasks.qbf import Qbf


def test_a_smaller_vocabulary_is_the_start_of_a_larger_one() -> None:
    assert Qbf(10).words[: len(Qbf(4).words)] == Qbf(4).words


def test_there_is_a_label_for_every_clause_that_can_be_sampled() -> None:
    words = Qbf(3).words
    assert [word for word in words if word.startswith("#")] == [f"#{number}" for number in range(10)]
    assert {"1", "2", "3"} <= set(words)
    assert "4" not in words


@pytest.mark.parametrize("size", [1, 17])
def test_sizes_out_of_range_are_an_error(size: int) -> None:
    with pytest.raises(SizeError, match="try one from 2 to 16"):
        Qbf(size)
