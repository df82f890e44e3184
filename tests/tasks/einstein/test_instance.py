import pytest

from pencil.tasks.einstein.instance import CATEGORIES, SIZES, categories


@pytest.mark.parametrize("size", SIZES)
def test_a_puzzle_is_square(size: int) -> None:
    assert len(categories(size)) == size
    assert all(len(category.values) == size for category in categories(size))


def test_the_small_puzzle_is_the_papers() -> None:
    assert [category.values for category in categories(3)] == [
        ("Blue", "Green", "Red"),
        ("Brit", "German", "Swede"),
        ("Birds", "Dogs", "Fish"),
    ]


def test_no_two_categories_share_a_value() -> None:
    values = [value for category in CATEGORIES for value in category.values]
    assert len(set(values)) == len(values) == 25
