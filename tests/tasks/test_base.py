from itertools import pairwise
from random import Random

import pytest

from pencil import PencilError, SizeError, get_task
from pencil.tasks import TASKS
from pencil.tokens import END, PROMPT_END, START

NAMES = list(TASKS)


@pytest.mark.parametrize("name", NAMES)
def test_the_same_seed_draws_the_same_instance(name: str) -> None:
    task = get_task(name)
    assert task.draw(3, 4) == task.draw(3, 4)
    assert len({str(task.draw(0, index)) for index in range(20)}) == 20


@pytest.mark.parametrize("name", NAMES)
def test_every_word_of_a_trace_is_in_the_vocabulary(name: str) -> None:
    task = get_task(name)
    for index in range(20):
        trace = task.trace(task.draw(1, index))
        ids = task.vocab.encode((*trace.prompt, *trace.generated))
        assert tuple(task.vocab.decode(ids)) == trace.prompt + trace.generated


@pytest.mark.parametrize("name", NAMES)
def test_the_words_of_a_larger_size_hold_those_of_a_smaller_one(name: str) -> None:
    sizes = TASKS[name].sizes
    for smaller, larger in pairwise(sizes):
        assert set(get_task(name, smaller).words) <= set(get_task(name, larger).words)


@pytest.mark.parametrize("name", NAMES)
def test_a_trace_starts_with_the_prompt_and_ends_for_good(name: str) -> None:
    task = get_task(name)
    trace = task.trace(task.sample(Random(0)))
    assert trace.prompt[0] == START
    assert trace.prompt[-1] == PROMPT_END
    assert trace.generated[-1] == END
    assert trace.stats().unmatched == 0


@pytest.mark.parametrize("name", NAMES)
def test_the_answer_of_every_format_is_right(name: str) -> None:
    task = get_task(name)
    instance = task.draw(2)
    answers = {task.answer(task.trace(instance, format).final) for format in ("pencil", "direct")}
    assert answers == {task.solve(instance)}
    assert task.check(instance, answers.pop())
    assert not task.check(instance, None)


@pytest.mark.parametrize("name", NAMES)
def test_a_size_outside_is_an_error(name: str) -> None:
    with pytest.raises(SizeError, match=f"{name} has no size 999; try one from"):
        get_task(name, 999)


def test_an_unknown_task_is_an_error() -> None:
    with pytest.raises(PencilError, match="expected one of sat, qbf, einstein"):
        get_task("chess")


@pytest.mark.parametrize("name", NAMES)
def test_a_sample_has_the_size_asked_for_and_no_oddity(name: str) -> None:
    task = get_task(name, 4)
    instances = [task.draw(0, index) for index in range(10)]
    assert {task.size_of(instance) for instance in instances} == {4}
    assert {get_task(name).oddity(instance) for instance in instances} == {None}


@pytest.mark.parametrize(
    ("name", "text", "oddity"),
    [
        ("sat", "( 1 ∨ 2 ∨ 3 ) ∧ ( 1 )", "clauses that are not of three different variables"),
        ("sat", "( 1 ∨ 1 ∨ 2 )", "clauses that are not of three different variables"),
        ("sat", "( 1 ∨ 2 ∨ 3 )", "1 clauses, not 12"),
        ("qbf", "∀ 1 ∃ 2 : ( 1 ∨ 2 )", "1 clauses, not 4 to 7"),
        ("qbf", "∀ 1 ∃ 3 : ( 1 ∨ 3 )", "variables up to 3, but only 2 of them"),
        ("qbf", "∃ 1 ∃ 2 : ( 1 ∨ 2 )", "only one kind of quantifier"),
        ("einstein", "The Brit is in the first house. The Swede is next to the Brit.", "POSITION and NEXT"),
    ],
)
def test_what_no_sample_shows_is_named(name: str, text: str, oddity: str) -> None:
    task = get_task(name)
    assert oddity in str(task.oddity(task.parse(text)))
