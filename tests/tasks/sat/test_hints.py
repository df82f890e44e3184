from random import Random
from typing import Any

import pytest

from pencil import Task, get_task
from pencil.tasks.sat.hints import AROUND, COPIED, DECISION, NEXT, OWN, QUESTION, SOURCE, copying
from pencil.train.data import random_stretch

TASKS = [get_task("sat", size) for size in (3, 6, 10)]


@pytest.mark.parametrize("task", TASKS, ids=lambda task: str(task.size))
def test_every_copied_word_is_looked_up_before_it_is_said(task: Task[Any]) -> None:
    trace = task.trace(task.draw(0, 0))
    words = [*trace.prompt, *trace.generated]
    looks = {(hint.place, hint.depth): hint.looks for hint in copying(words)}
    copied = 0
    for question in [place for place, word in enumerate(words) if word == "Question:"]:
        [around] = looks[question, OWN][QUESTION]
        assert words[around] in ("Question:", words[0])
        place, before = question + 1, around
        while words[place] not in ("Try", "Found"):
            [source], [last] = looks[place - 1, NEXT][SOURCE], looks[place, COPIED][SOURCE]
            assert words[source] == words[place]
            assert around <= before <= last <= source < question
            assert last == (before if words[place] in ("∧", "(") else source)
            assert looks[place, OWN] == looks[place, AROUND] == {QUESTION: [question]}
            place, before = place + 1, last
            copied += 1
    assert copied > len(words) / 2


def test_a_decision_looks_at_the_clause_that_makes_it() -> None:
    words = (
        "< ( 2 ∨ 1 ) ∧ ( ¬ 2 ) > [CALL] Question: ( 2 ∨ 1 ) ∧ ( ¬ 2 ) Found ¬ 2 Let 2 = False [CALL] Question: ( 1 )"
    )
    words += " Found 1 Let 1 = True [SEP] Answer: True [RETURN] [SEP] Answer: True [RETURN]"
    spoken = words.split()
    chosen = [
        (spoken[hint.place], " ".join(spoken[place] for place in hint.looks[DECISION]))
        for hint in copying(spoken)
        if DECISION in hint.looks
    ]
    assert chosen == [(")", "¬ 2"), ("Found", "¬ 2"), (")", "1"), ("Found", "1")]


def test_without_such_a_clause_the_smallest_variable_is_chosen() -> None:
    words = "< ( 3 ∨ ¬ 2 ) > [CALL] Question: ( 3 ∨ ¬ 2 ) Try 2 = True".split()
    assert decisions(words) == [(")", "¬ 2"), ("Try", "¬ 2")]


def test_a_clause_that_becomes_empty_decides() -> None:
    words = "< ( 3 ) ∧ ( ¬ 3 ) > [CALL] Question: ( 3 ) ∧ ( ¬ 3 ) Found 3 Let 3 = True [SEP] Answer: False".split()
    assert decisions(words)[-1] == ("True", "3")
    assert copying(words)[-1].looks == {DECISION: [words.index("Found") - 2]}


@pytest.mark.parametrize("task", TASKS, ids=lambda task: str(task.size))
def test_a_stretch_of_a_trace_has_the_same_hints(task: Task[Any]) -> None:
    vocab, rng = task.vocab, Random(0)
    trace = task.trace(task.draw(0, 1))
    for _ in range(20):
        live, generated = random_stretch(
            vocab.encode(trace.prompt), vocab.encode(trace.generated), vocab.marks, 50, rng
        )
        words = vocab.decode([*live, *generated])
        hints = copying(words)
        assert all(hint.place < len(words) for hint in hints)
        literals = [hint for hint in hints if hint.depth == COPIED and words[hint.place].isdigit()]
        assert all(words[hint.place] == words[hint.looks[SOURCE][0]] for hint in literals)


def test_words_without_a_call_have_no_hints() -> None:
    assert not copying(["(", "1", ")"])
    assert not copying([])


def decisions(words: list[str]) -> list[tuple[str, str]]:
    """Where a decision is looked up, and what is found there."""
    hints = [hint for hint in copying(words) if DECISION in hint.looks]
    return [(words[hint.place], " ".join(words[place] for place in hint.looks[DECISION])) for hint in hints]
