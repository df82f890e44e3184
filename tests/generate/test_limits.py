import pytest
from hypothesis import given
from hypothesis import strategies as st

from pencil.errors import ConfigError
from pencil.generate.limits import Limits, Repetition


def first_alarm(tokens: list[int], copies: int, longest: int) -> int | None:
    detector = Repetition(copies, longest)
    return next((index for index, token in enumerate(tokens) if detector.add(token)), None)


def is_repetitive(tokens: list[int], copies: int, longest: int) -> bool:
    """The definition: the sequence ends with `copies` copies of some stretch."""
    return any(
        len(tokens) >= p * copies and tokens[-p * copies :] == tokens[-p:] * copies for p in range(1, longest + 1)
    )


@given(
    st.lists(st.integers(0, 1), max_size=60),
    st.integers(2, 4),
    st.integers(1, 5),
)
def test_the_detector_is_its_definition(tokens: list[int], copies: int, longest: int) -> None:
    expected = next(
        (end - 1 for end in range(1, len(tokens) + 1) if is_repetitive(tokens[:end], copies, longest)), None
    )
    assert first_alarm(tokens, copies, longest) == expected


def test_a_counter_is_not_repetition() -> None:
    digits = [int(digit) for number in range(3000) for digit in f"{number:04d}"]
    assert first_alarm(digits, copies=8, longest=64) is None


def test_a_long_cycle_is_found_late_in_a_long_stream() -> None:
    noise = [(index * index + index // 7) % 11 for index in range(5000)]
    assert first_alarm(noise, 8, 64) is None
    alarm = first_alarm(noise + list(range(60)) * 20, 8, 64)
    assert alarm is not None
    assert alarm - len(noise) == 8 * 60 - 1


@pytest.mark.parametrize(
    "bad",
    [
        {"tokens": 0},
        {"tokens": "5"},
        {"context": 0},
        {"context": 3.5},
        {"depth": -1},
        {"seconds": -1},
        {"repeats": 1},
        {"overflow": "wrap"},
    ],
)
def test_limits_out_of_range_are_refused(bad: dict[str, int]) -> None:
    with pytest.raises(ConfigError, match=next(iter(bad))):
        Limits(**bad)  # type: ignore[arg-type]
