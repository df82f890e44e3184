from dataclasses import replace
from random import Random
from typing import Any

import pytest

from pencil import Task, get_task
from pencil.tasks.sat.hints import (
    AGAIN,
    BEFORE,
    CLAUSE,
    COPIED,
    DECISION,
    ENOUGH,
    HERE,
    NEXT,
    OWN,
    QUESTION,
    RESUMED,
    SOURCE,
    STEPWISE,
    THERE,
    copying,
    distance,
)
from pencil.train.data import random_stretch

TASKS = [get_task("sat", size) for size in (3, 6, 10)]


@pytest.mark.parametrize("task", TASKS, ids=lambda task: str(task.size))
def test_every_copied_word_is_looked_up_before_it_is_said(task: Task[Any]) -> None:
    trace = task.trace(task.draw(0, 0))
    words = [*trace.prompt, *trace.generated]
    hints = {(hint.place, hint.depth): hint for hint in copying(words) if {SOURCE, QUESTION} & hint.looks.keys()}
    hints |= {(hint.place, hint.depth): hint for hint in copying(words) if SOURCE in hint.looks}
    copied = 0
    for question in [place for place, word in enumerate(words) if word == "Question:"]:
        [first] = hints[question - 1, NEXT].looks[SOURCE]
        around = max(at for at, word in enumerate(words[:first]) if word in ("Question:", words[0]))
        place, before = question + 1, around
        while words[place] not in ("Try", "Found"):
            [source], [last] = hints[place - 1, NEXT].looks[SOURCE], hints[place, COPIED].looks[SOURCE]
            [end] = hints[place - 1, CLAUSE].looks[SOURCE]
            assert words[source] == words[place]
            assert words[end] == ")"
            assert around <= before <= last <= source <= end < question
            assert last == (
                before if words[place] in ("∧", "(") or words[place - 1 : place + 1] == ["(", "¬"] else source
            )
            assert hints[place, OWN].looks == {QUESTION: [question]}
            assert hints[place, COPIED].mind == distance(THERE, last - around)
            assert hints[place - 1, CLAUSE].mind == distance(THERE, source - around)
            place, before = place + 1, last
            copied += 1
    assert copied > len(words) / 2


def test_a_copy_is_told_its_assignment() -> None:
    words = "< ( 1 ∨ 2 ) > [CALL] Question: ( 1 ∨ 2 ) Try 1 = False [CALL] Question: ( 2 )".split()
    told = [hint for hint in copying(words) if "True" in hint.mind]
    last = [hint for hint in told if hint.place > 18]
    assert [(words[hint.place], hint.depth) for hint in last] == [
        ("(", OWN),
        ("2", OWN),
        (")", OWN),
    ]
    assert all(hint.mind == {"1": True, "2": False, "True": False, "False": True} for hint in last)
    assert not any(hint.mind["True"] or hint.mind["False"] for hint in told if hint.place < 18)


def test_the_end_of_a_clause_looks_back() -> None:
    words = "< ( 1 ) ∧ ( 3 ∨ ¬ 2 ) > [CALL] Question: ( 1 ) ∧ ( 3 ∨ ¬ 2 ) Found 1".split()
    question, first, last = words.index("Question:"), 16, 23
    [back] = [hint for hint in copying(words) if (hint.place, hint.depth) == (last, BEFORE)]
    assert back.looks == {SOURCE: [first], QUESTION: [question]}
    assert {word: back.mind[word] for word in HERE} == distance(HERE, last - question)


@pytest.mark.parametrize(("value", "literal"), [("True", "2"), ("False", THERE[1])])
def test_a_variable_and_its_value_are_in_mind_as_one_literal(value: str, literal: str) -> None:
    words = f"< ( 1 ∨ ¬ 3 ) > [CALL] Question: ( 1 ∨ ¬ 3 ) ∧ ( 2 ) Try 2 = {value} [CALL] Question: ( 1 ∨ ¬ 3 )".split()
    [told] = [hint for hint in copying(words) if (hint.place, hint.depth) == (len(words) - 1, BEFORE)]
    bound = {word: holds for word, holds in told.mind.items() if word not in HERE}
    assert bound.keys() == {"1", "2", "3", *THERE[:3]}
    assert [word for word, holds in bound.items() if holds] == [literal]


def test_with_layers_enough_a_word_learns_where_the_formula_went_on_after_the_clause_before_it() -> None:
    formula = "( 1 ∨ 2 ) ∧ ( ¬ 1 ∨ 3 ) ∧ ( 2 ∨ 3 )"
    words = f"< {formula} > [CALL] Question: {formula} Try 1 = False [CALL] Question: ( 2 ) ∧ ( 2 ∨ 3 )".split()
    around, question = (place for place, word in enumerate(words) if word == "Question:")
    _, kept = (place for place in range(around, question) if words[place] == "∧")
    told = {hint.place: hint for hint in copying(words, ENOUGH) if hint.depth == RESUMED and hint.place > question}
    first_end = words.index(")", question)
    for place, hint in told.items():
        before, resumed = (question, around + 1) if place <= first_end else (first_end, kept)
        assert hint.looks == {SOURCE: [before]}
        assert hint.mind == distance(THERE, resumed - around)
    assert [*told] == [*range(question + 1, len(words))]


def test_more_layers_look_again_and_come_to_all_else_in_smaller_steps() -> None:
    words = "< ( 1 ∨ 2 ) > [CALL] Question: ( 1 ∨ 2 ) Try 1 = False [CALL] Question: ( 2 )".split()
    few, many = copying(words), copying(words, ENOUGH)
    added = [hint for hint in many if hint.depth in (RESUMED, AGAIN)]
    assert added
    assert [hint for hint in many if hint not in added] == [
        replace(hint, depth=STEPWISE.get(hint.depth, hint.depth)) for hint in few
    ]


def test_distances_within_a_formula_are_told_apart_but_those_of_near_words() -> None:
    told = {tokens: tuple(distance(HERE, tokens).values()) for tokens in range(1, 280)}
    assert all(here - there < 4 for here in told for there in range(1, here) if told[here] == told[there])


def test_a_decision_looks_at_the_clause_that_makes_it() -> None:
    words = (
        "< ( 2 ∨ 1 ) ∧ ( ¬ 2 ) > [CALL] Question: ( 2 ∨ 1 ) ∧ ( ¬ 2 ) Found ¬ 2 Let 2 = False [CALL] Question: ( 1 )"
        " Found 1 Let 1 = True [SEP] Answer: True [RETURN] [SEP] Answer: True [RETURN]"
    ).split()
    assert decisions(words) == [(")", "¬ 2 )"), ("Found", "¬ 2 )"), (")", "( 1 )"), ("Found", "( 1 )")]


def test_without_such_a_clause_the_smallest_variable_is_chosen() -> None:
    words = "< ( 3 ∨ ¬ 2 ) > [CALL] Question: ( 3 ∨ ¬ 2 ) Try 2 = True".split()
    assert decisions(words) == [(")", "∨ ¬ 2"), ("Try", "∨ ¬ 2")]


def test_a_clause_that_becomes_empty_decides() -> None:
    words = "< ( 3 ) ∧ ( ¬ 3 ) > [CALL] Question: ( 3 ) ∧ ( ¬ 3 ) Found 3 Let 3 = True [SEP] Answer: False".split()
    assert decisions(words)[-1] == ("True", "¬ 3 )")


@pytest.mark.parametrize("task", TASKS, ids=lambda task: str(task.size))
def test_a_stretch_of_a_trace_has_the_same_hints(task: Task[Any]) -> None:
    vocab, rng = task.vocab, Random(0)
    trace = task.trace(task.draw(0, 1))
    for _ in range(20):
        stretch = random_stretch(vocab.encode(trace.prompt), vocab.encode(trace.generated), vocab.marks, 50, rng)
        words = vocab.decode([*stretch.given, *stretch.said])
        hints = copying(words)
        assert all(hint.place < len(words) for hint in hints)
        literals = [hint for hint in hints if hint.depth == COPIED and words[hint.place].isdigit()]
        assert all(words[hint.place] == words[hint.looks[SOURCE][0]] for hint in literals)


def test_words_without_a_call_have_no_hints() -> None:
    assert not copying(["(", "1", ")"])
    assert not copying([])


def decisions(words: list[str]) -> list[tuple[str, str]]:
    """Where a decision is looked up, and the end of what is found there."""
    hints = [hint for hint in copying(words) if hint.depth == NEXT and DECISION in hint.looks]
    return [
        (words[hint.place], " ".join(words[place - 2 : place + 1])) for hint in hints for place in hint.looks[DECISION]
    ]
