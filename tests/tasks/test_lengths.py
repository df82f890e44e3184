from pencil import get_task
from pencil.tasks.lengths import Spread, measure_lengths


def test_a_spread_is_longest_and_mean() -> None:
    assert Spread.of([1, 2, 6]) == Spread(longest=6, mean=3.0)


def test_progress_counts_up_to_the_end() -> None:
    seen: list[int] = []
    measure_lengths(get_task("sat", 3), 4, 0, seen.append)
    assert seen == [1, 2, 3, 4]
