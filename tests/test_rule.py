from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pencil.rule import Context, Reduction, reduce, replay, scaffold, segments
from pencil.tokens import CALL, RETURN, SEP, WORD_MARKS, Marks

IDS = Marks(call=100, sep=101, ret=102)
AS_ID = {CALL: 100, SEP: 101, RETURN: 102}

plain = st.sampled_from("abc")
marks = st.sampled_from([CALL, SEP, RETURN])
any_words = st.lists(st.one_of(plain, marks), max_size=40)


def by_definition(sequence: Sequence[str]) -> list[str]:
    """The paper's definition read literally: every way to cut the sequence into C [CALL] T [SEP] A [RETURN]."""
    if not sequence or sequence[-1] != RETURN:
        return list(sequence)
    end = len(sequence) - 1
    matches = [
        [*sequence[:call], *sequence[sep + 1 : end]]
        for call in range(end)
        for sep in range(call + 1, end)
        if sequence[call] == CALL
        and sequence[sep] == SEP
        and CALL not in sequence[call + 1 : sep]
        and not {SEP, RETURN} & set(sequence[sep + 1 : end])
    ]
    assert len(matches) <= 1, "the paper says that the match is unique"
    return matches[0] if matches else list(sequence)


def scroll_by_definition(sequence: Sequence[str]) -> list[str]:
    if not sequence or sequence[-1] != RETURN:
        return list(sequence)
    end = len(sequence) - 1
    cuts = [sep for sep in range(end) if sequence[sep] == SEP and not {SEP, RETURN} & set(sequence[sep + 1 : end])]
    return list(sequence[cuts[0] + 1 : end]) if cuts else list(sequence)


def run_by_definition(prompt: Sequence[str], generated: Sequence[str], scroll: bool = False) -> list[str]:
    live = list(prompt)
    for word in generated:
        live = (scroll_by_definition if scroll else by_definition)([*live, word])
    return live


def test_return_collapses_the_call() -> None:
    assert reduce("1 [CALL] 7 [SEP] 9 [RETURN]".split()) == ["1", "9"]


def test_the_last_sep_and_the_last_call_before_it_match() -> None:
    assert reduce("a [CALL] b [CALL] c [SEP] d [SEP] e [RETURN]".split()) == "a [CALL] b e".split()


def test_a_call_in_the_answer_is_tail_recursion() -> None:
    context = Context("q".split())
    context.extend("[CALL] long thought [SEP] [CALL] summary".split())
    assert context.append(RETURN) is not None
    assert list(context) == "q [CALL] summary".split()
    context.extend("[SEP] done [RETURN]".split())
    assert list(context) == ["q", "done"]


def test_an_empty_thought_and_an_empty_answer_leave_nothing() -> None:
    assert reduce([CALL, SEP, RETURN]) == []


@pytest.mark.parametrize("text", ["", "a b", "a [RETURN]", "[CALL] a [RETURN]", "a [SEP] b [RETURN]", "[SEP] [CALL] a"])
def test_what_matches_nothing_stays_unchanged(text: str) -> None:
    assert reduce(text.split()) == text.split()


def test_an_unmatched_return_is_counted_and_kept() -> None:
    context = Context(["a"])
    assert context.append(RETURN) is None
    assert list(context) == ["a", RETURN]
    assert (context.unmatched, context.reductions) == (1, 0)


def test_a_return_within_the_answer_blocks_the_match() -> None:
    # Only a prompt can hold such a sequence; A may not contain [RETURN].
    context = Context("[CALL] t [SEP] a [RETURN] b".split())
    assert context.append(RETURN) is None


def test_a_prompt_with_open_calls_is_taken_as_it_is() -> None:
    context = Context("q [CALL] t".split())
    assert context.depth == 1
    context.extend("[SEP] a [RETURN]".split())
    assert list(context) == ["q", "a"]


@given(any_words, any_words)
def test_streaming_equals_the_definition(prompt: list[str], generated: list[str]) -> None:
    context = Context(prompt)
    live = list(prompt)
    for word in generated:
        context.append(word)
        live = by_definition([*live, word])
        assert list(context) == live
        assert context.depth == live.count(CALL)


@given(any_words)
def test_reduce_equals_the_definition(sequence: list[str]) -> None:
    assert reduce([*sequence, RETURN]) == by_definition([*sequence, RETURN])


@given(any_words, any_words)
def test_the_scroll_rule_equals_its_definition(prompt: list[str], generated: list[str]) -> None:
    context = Context(prompt, scroll=True)
    context.extend(generated)
    assert list(context) == run_by_definition(prompt, generated, scroll=True)


@given(any_words, any_words)
def test_words_and_ids_reduce_alike(prompt: list[str], generated: list[str]) -> None:
    def as_ids(words: list[str]) -> list[int]:
        return [AS_ID.get(word, ord(word[0])) for word in words]

    context = Context(as_ids(prompt), IDS)
    context.extend(as_ids(generated))
    assert list(context) == as_ids(run_by_definition(prompt, generated))


@given(any_words, any_words)
def test_peak_count_and_depth_follow_the_sequence(prompt: list[str], generated: list[str]) -> None:
    context = Context(prompt)
    live, peak, reductions, depth = list(prompt), len(prompt), 0, prompt.count(CALL)
    for word in generated:
        grown = [*live, word]
        live = by_definition(grown)
        peak, depth = max(peak, len(grown)), max(depth, live.count(CALL))
        reductions += live != grown
        context.append(word)
    assert (context.peak, context.reductions, context.max_depth) == (peak, reductions, depth)
    at_once = Context(prompt)
    at_once.extend(generated)
    assert (at_once.peak, at_once.reductions, at_once.max_depth) == (peak, reductions, depth)


@given(any_words, any_words)
def test_iterations_give_the_scaffolded_trace_back(prompt: list[str], generated: list[str]) -> None:
    assert scaffold(segments(prompt, generated)) == (prompt + generated if generated else [])


@given(any_words, any_words)
def test_replay_yields_each_iteration_and_its_reduction(prompt: list[str], generated: list[str]) -> None:
    before = list(prompt)
    for step in replay(prompt, generated):
        assert step.before.tokens[: step.before.start] == before
        assert step.after == by_definition(step.before.tokens)
        if step.reduction is not None:
            assert step.reduction.erased == len(step.before.tokens) - len(step.after)
            assert step.before.tokens[step.reduction.sep] == SEP
        before = step.after


def test_only_the_last_iteration_ends_without_a_reduction() -> None:
    steps = list(replay(["q"], "[CALL] t [SEP] a [RETURN] b".split()))
    assert [step.reduction is None for step in steps] == [False, True]
    assert [step.before.generated for step in steps] == ["[CALL] t [SEP] a [RETURN]".split(), ["b"]]


def drawing(text: str, **options: Any) -> str:
    context = Context(**options)
    (reduction,) = context.extend(text.split())
    return repr(reduction)


def test_a_reduction_draws_what_is_kept_and_dropped() -> None:
    assert drawing("Try 1 = True [CALL] Question: ( 2 ) [SEP] Answer: False [RETURN]").splitlines() == [
        "Try 1 = True [CALL] Question: ( 2 ) [SEP] Answer: False [RETURN]",
        "keep──────── drop──────────────────────── keep───────── drop────",
    ]


def test_long_parts_are_drawn_shortened() -> None:
    top, bottom = drawing("x " * 50 + "[CALL] " + "t " * 50 + "[SEP] a [RETURN]").splitlines()
    assert top.startswith("… x x")
    assert "[CALL] t t t … t t t [SEP]" in top
    assert len(top) < 90
    assert bottom.startswith("keep─")


def test_a_scroll_draws_without_a_call() -> None:
    assert drawing("long [SEP] short [RETURN]", scroll=True).splitlines()[0] == "long [SEP] short [RETURN]"


def test_a_reduction_knows_its_parts() -> None:
    (reduction,) = Context(["c"]).extend("[CALL] t u [SEP] a [RETURN]".split())
    assert reduction == Reduction(
        kept=1, sep=4, end=6, thought=("t", "u"), answer=("a",), lead=("c",), marks=WORD_MARKS
    )
