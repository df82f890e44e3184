"""Running state answers what a scan over all positions answers."""

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pencil.theory.decode.heads import Best, Grouped, Match, RunningHead, Vector, mean

values = st.integers(-5, 5)
small = st.integers(-4, 4)


def scan(scores: list[int], found: list[int], *, rightmost: bool) -> Vector:
    """The definition: the values where the score is highest, averaged, or the last of them."""
    tied = [value for score, value in zip(scores, found, strict=True) if score == max(scores)]
    return (tied[-1],) if rightmost else mean([sum(tied)], len(tied))


@given(st.lists(st.tuples(small, values), min_size=1), st.booleans())
def test_best_keeps_what_a_fixed_query_needs(positions: list[tuple[int, int]], rightmost: bool) -> None:
    head = Best(rightmost=rightmost)
    for place, (score, value) in enumerate(positions, start=1):
        head.add(score, (value,), place)
        seen = positions[:place]
        assert head.read(None) == scan([s for s, _ in seen], [v for _, v in seen], rightmost=rightmost)


@given(st.lists(st.tuples(small, st.integers(-20, 20), values), min_size=1), st.integers(-30, 30))
def test_match_finds_the_highest_line(positions: list[tuple[int, int, int]], query: int) -> None:
    head = Match()
    for place, (slope, offset, value) in enumerate(positions, start=1):
        head.add((slope, offset), (value,), place)
    scores = [query * slope + offset for slope, offset, _ in positions]
    assert head.read(query) == scan(scores, [value for *_, value in positions], rightmost=True)


@given(st.lists(st.tuples(st.integers(-9, 9), st.sampled_from([0, 2]), values), min_size=1), st.integers(-12, 12))
def test_match_finds_the_nearest_cell(cells: list[tuple[int, int, int]], query: int) -> None:
    head = Match()
    for place, (cell, penalty, value) in enumerate(cells, start=1):
        head.add((2 * cell, -cell * cell - penalty), (value,), place)
    scores = [-((query - cell) ** 2) - penalty for cell, penalty, _ in cells]
    assert head.read(query) == scan(scores, [value for *_, value in cells], rightmost=True)


@given(st.lists(st.tuples(small, small, values), min_size=1), small, small, st.booleans())
def test_grouped_answers_any_query(positions: list[tuple[int, int, int]], x: int, y: int, rightmost: bool) -> None:
    head = Grouped(rightmost=rightmost)
    for place, (a, b, value) in enumerate(positions, start=1):
        head.add((a, b), (value,), place)
    scores = [x * a + y * b for a, b, _ in positions]
    assert head.read((x, y)) == scan(scores, [value for *_, value in positions], rightmost=rightmost)


@pytest.mark.parametrize(
    ("head", "key", "query", "expected"),
    [
        (Best(rightmost=False), 3, None, (2,)),
        (Match(), (2, 1), 1, (3,)),
        (Grouped(rightmost=False), (1,), (1,), (2,)),
    ],
)
def test_a_cleared_memory_is_as_new(head: RunningHead, key: Any, query: Any, expected: Vector) -> None:
    head.add(key, (9,), 1)
    head.clear()
    head.add(key, (1,), 1)
    head.add(key, (3,), 2)
    assert head.read(query) == expected


def test_means_are_integers_where_they_can_be() -> None:
    assert mean([6, 3], 3) == (2, 1)
    assert mean([1], 2) == (Fraction(1, 2),)
