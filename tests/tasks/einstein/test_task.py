from random import Random

import pytest

from pencil.errors import SizeError
from pencil.tasks.einstein import Einstein, generate
from tests.tasks.einstein.puzzles import RIDDLE, odd_puzzle


def test_a_smaller_vocabulary_is_the_start_of_a_larger_one() -> None:
    assert Einstein(5).words[: len(Einstein(4).words)] == Einstein(4).words
    assert Einstein(4).words[: len(Einstein(3).words)] == Einstein(3).words


@pytest.mark.parametrize(("size", "count"), [(3, 200), (4, 30), (5, 8)])
def test_the_vocabulary_is_closed(size: int, count: int) -> None:
    task, rng = Einstein(size), Random(size)
    for _ in range(count):
        trace = task.trace(odd_puzzle(size, rng))
        task.vocab.encode(trace.prompt + trace.generated)


@pytest.mark.parametrize("size", [2, 6])
def test_sizes_out_of_range_are_an_error(size: int) -> None:
    with pytest.raises(SizeError, match="try one from 3 to 5"):
        Einstein(size)


@pytest.mark.parametrize(
    ("response", "answer"),
    [
        ("Solution ... => House#3 owns the Fish \n => the Brit owns the Fish <|endoftext|>", "Brit"),
        ("No Solution <|endoftext|>", "No Solution"),
        ("No Solution", "No Solution"),
        ("=> the Fish owns the Fish", None),
        ("=> the Brit owns the", None),
        ("", None),
    ],
)
def test_the_answer_is_read_from_the_response(response: str, answer: str | None) -> None:
    assert Einstein().answer(response.split(" ")) == answer


def test_the_reasoners_answer_is_right_and_no_other_is() -> None:
    task = Einstein(5)
    riddle = task.parse(RIDDLE)
    assert task.solve(riddle) == "German"
    right = [answer for answer in ("Brit", "Swede", "German", "Dane", "Norwegian") if task.check(riddle, answer)]
    assert right == ["German"]
    assert not task.check(riddle, "No Solution")
    assert not task.check(riddle, None)


def test_any_owner_that_the_clues_allow_is_right() -> None:
    task = Einstein()
    puzzle = task.parse("The Brit keeps dogs.")
    assert [task.check(puzzle, owner) for owner in ("Brit", "Swede", "German", "Dane")] == [False, True, True, False]
    contradiction = task.parse("The Brit keeps dogs. The Swede keeps dogs.")
    assert task.check(contradiction, "No Solution")
    assert not task.check(contradiction, "Brit")


def test_the_same_seed_gives_the_same_trace() -> None:
    task = Einstein(4)
    assert task.trace(task.draw(3)) == task.trace(task.draw(3))


def test_a_minimal_task_samples_fewer_clues() -> None:
    plain, minimal = Einstein(5), Einstein(5, minimal=True)
    assert len(minimal.draw(0).clues) < len(plain.draw(0).clues)


@pytest.mark.parametrize("size", [3, 4, 5])
def test_a_rare_trace_tells_what_is_possible_and_goes_on_from_there(size: int) -> None:
    task, answers = Einstein(size), set()
    for index in range(30):
        puzzle = task.draw(4, index)
        trace, told = task.rare_trace(puzzle, Random(index))
        state = generate.random_state(puzzle, Random(index))
        beginning, rest = trace.generated[:told], trace.generated[told:]
        assert trace.prompt == task.prompt(puzzle)
        assert beginning[:5] == ("[CALL]", "======", "Possible", "Assignments", "======")
        assert " ".join(state.words()) in " ".join(beginning)
        assert beginning[-1] == "\n"
        assert rest[:3] == ("=>", "Puzzle", "not")
        answers.add(task.answer(trace.final))
    assert "No Solution" in answers
    assert len(answers) > 2
