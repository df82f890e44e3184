from random import Random

import pytest

from pencil.generate import guess
from pencil.generate.guess import AHEAD, LENGTHS, Guesser

WORDS = list(range(10, 30))


def taught(*lessons: list[int], never: tuple[int, ...] = ()) -> Guesser:
    guesser = Guesser(never)
    for lesson in lessons:
        guesser.learn_all(lesson)
    return guesser


def test_what_followed_before_is_guessed_to_follow_again() -> None:
    assert taught(WORDS).guess([99, *WORDS[:5]]) == WORDS[5 : 5 + AHEAD]


def test_a_guess_is_no_longer_than_there_is_room() -> None:
    guesser = taught(WORDS)
    assert [len(guesser.guess(WORDS[:5], most)) for most in (-1, 0, 2, 99)] == [0, 0, 2, AHEAD]


def test_nothing_is_guessed_after_unknown_words() -> None:
    assert taught(WORDS).guess([1, 2, 3, 4]) == taught().guess(WORDS) == taught(WORDS).guess([]) == []


def test_a_guess_stops_before_a_word_that_is_never_guessed() -> None:
    assert taught(WORDS, never=(WORDS[7],)).guess(WORDS[:5]) == WORDS[5:7]


def test_words_that_vary_are_not_guessed_until_they_repeat() -> None:
    first, second = [1, 2, 3, 4], [1, 2, 3, 5]
    assert taught(first, second).guess([1, 2, 3]) == []
    assert taught(first, second, second).guess([1, 2, 3]) == [5]


def test_more_words_decide_where_fewer_do_not() -> None:
    one, other = [*range(50, 60), 1, 2, 3, 4], [*range(70, 80), 1, 2, 3, 5]
    guesser = taught(one, other)
    assert [guesser.guess(lesson[:-1]) for lesson in (one, other)] == [[4], [5]]


def test_one_by_one_is_learned_as_all_at_once() -> None:
    rng = Random(0)
    words = [rng.randrange(4) for _ in range(200)]
    one_by_one = Guesser()
    for end in range(1, len(words) + 1):
        one_by_one.learn(words[:end])
    assert one_by_one._next == taught(words)._next


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guess, "LIMIT", 100)
    guesser = taught(list(range(10_000)))
    assert len(guesser._next) <= 100 + len(LENGTHS)
