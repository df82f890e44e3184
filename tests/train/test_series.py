from pencil.train.config import DataConfig
from pencil.train.series import LATER, MOST, Series

CONFIG = DataConfig("qbf", {2: 1.0}, batch=4, again=2)
NONE, ALL = [0.0] * 4, [1.0] * 4


def noted(*steps: list[float]) -> Series:
    """A series that has seen these steps, and nothing wrong between them and the one that they come again in."""
    series = Series(CONFIG)
    for step, nearly_right in enumerate(steps):
        series.note(step, nearly_right)
    for step in range(len(steps), LATER):
        series.note(step, NONE)
    return series


def test_instances_are_the_next_ones_while_nothing_comes_again() -> None:
    series = noted()
    assert [series.instances(step) for step in (0, 1, LATER)] == [
        [0, 1, 2, 3],
        [4, 5, 6, 7],
        [4 * LATER + place for place in range(4)],
    ]


def test_one_that_was_nearly_right_comes_again_in_place_of_a_new_one() -> None:
    series = noted([0, 0, 1, 0])
    first = 4 * LATER
    assert series.instances(LATER) == [first, first + 1, first + 2, 2]


def test_some_are_always_new() -> None:
    assert noted(ALL).instances(LATER) == [4 * LATER, 4 * LATER + 1, 0, 1]


def test_those_learned_from_least_come_first() -> None:
    series = noted([1, 0, 0, 0])
    series.note(LATER, [0, 1, 1, 1])  # two new ones, and instance 0 for the second time
    for step in range(LATER + 1, 2 * LATER):
        series.note(step, NONE)
    assert series.instances(2 * LATER)[2:] == [4 * LATER + 1, 4 * LATER + 2]


def test_it_comes_again_until_it_is_right_but_not_for_ever() -> None:
    series = noted([1, 0, 0, 0])
    for round in range(1, MOST + 1):
        again = round * LATER
        assert (0 in series.instances(again)) == (round < MOST)
        series.note(again, [float(instance == 0) for instance in series.instances(again)])
        for step in range(again + 1, again + LATER):
            series.note(step, NONE)


def test_what_is_to_come_again_is_all_there_is_to_remember() -> None:
    whole = noted(ALL, NONE, ALL)
    resumed = Series(CONFIG)
    resumed.returning = dict(whole.returning)
    assert [resumed.instances(LATER + step) for step in range(4)] == [
        whole.instances(LATER + step) for step in range(4)
    ]
    assert len(whole.returning) <= LATER


def test_nothing_is_remembered_where_nothing_comes_again() -> None:
    series = Series(DataConfig("qbf", {2: 1.0}))
    series.note(0, ALL)
    assert not series.returning
