import pytest
from hypothesis import given
from hypothesis import strategies as st

from pencil.errors import TraceError
from pencil.rule import replay
from pencil.tokens import CALL, RETURN, SEP
from pencil.trace import Trace, TraceWriter, measure

any_words = st.lists(st.sampled_from(["a", "b", CALL, SEP, RETURN]), max_size=40)


def flops_equation(prompt: list[str], generated: list[str]) -> int:
    """The paper's FLOPs equation, term by term."""
    total = 0
    for step in replay(prompt, generated):
        half, whole = step.before.start, len(step.before.tokens)
        total += (half + whole + 1) * (whole - half)
        if step.reduction is not None:
            total += (step.reduction.kept + len(step.after) + 1) * len(step.reduction.answer)
    return total


@given(any_words, any_words)
def test_cost_is_the_papers_flops_equation(prompt: list[str], generated: list[str]) -> None:
    stats = measure(prompt, generated)
    whole = len(prompt) + len(generated)
    assert stats.cost_pencil == flops_equation(prompt, generated)
    assert stats.cost_cot == (len(prompt) + whole + 1) * len(generated)


@given(any_words, any_words)
def test_measure_agrees_with_the_replay(prompt: list[str], generated: list[str]) -> None:
    stats, steps = measure(prompt, generated), list(replay(prompt, generated))
    assert stats.tokens == len(prompt) + len(generated)
    assert stats.peak == max([len(prompt), *(len(step.before.tokens) for step in steps)])
    assert stats.reductions == sum(step.reduction is not None for step in steps)


def test_a_trace_may_be_a_stream() -> None:
    once = (word for word in "[CALL] t [SEP] a [RETURN]".split())
    assert measure(["q"], once).peak == 6


def test_a_call_block_brings_the_marks() -> None:
    write = TraceWriter()
    with write.call():
        write("t")
        write.answer("a")
    assert write.words == [CALL, "t", SEP, "a", RETURN]


def test_a_call_without_an_answer_answers_nothing() -> None:
    write = TraceWriter()
    with write.call():
        write("t")
    assert write.words == [CALL, "t", SEP, RETURN]


def test_a_tail_call_keeps_the_call_open() -> None:
    write = TraceWriter()
    with write.call():
        write("long")
        with write.tail_call():
            write("short")
        write.answer("a")
    assert write.words == f"{CALL} long {SEP} {CALL} short {RETURN} {SEP} a {RETURN}".split()
    assert Trace(("q",), tuple(write.words)).final == ["a"]


def test_an_answer_may_think_on() -> None:
    write = TraceWriter()
    with write.call():
        write.answer("a")
        write("b")
    assert write.words == [CALL, SEP, "a", "b", RETURN]


def test_an_answer_needs_a_call() -> None:
    with pytest.raises(TraceError, match="outside of any call"):
        TraceWriter().answer("a")


def test_a_call_answers_once() -> None:
    write = TraceWriter()
    with write.call():
        write.answer("a")
        with pytest.raises(TraceError, match="answers once"):
            write.answer("b")


def test_the_writers_own_traces_always_match() -> None:
    write = TraceWriter()

    def nest(depth: int) -> None:
        with write.call():
            for _ in range(2 if depth else 0):
                nest(depth - 1)
            write.answer("a")

    nest(5)
    stats = Trace(("q",), tuple(write.words)).stats()
    assert (stats.unmatched, stats.depth, stats.reductions) == (0, 6, 2**6 - 1)


def test_an_endless_trace_is_given_up() -> None:
    write = TraceWriter(limit=10)

    def think_forever() -> None:
        with write.call():
            think_forever()

    with pytest.raises(TraceError, match="longer than 10 words"):
        think_forever()


def test_stats_become_plain_data() -> None:
    assert measure(["q"], ["a"]).as_dict()["tokens"] == 2
