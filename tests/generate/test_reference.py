import pytest

from pencil.generate.events import Reduced, Stopped, Token
from pencil.generate.limits import Limits
from pencil.generate.reference import reference
from pencil.rule import replay
from tests.generate.fakes import CALL, END, MARKS, RET, SEP, Hashed, Scripted


def final(script: list[int], prompt: list[int]) -> Stopped:
    *_, last = reference(Scripted(script), prompt, MARKS, end=END)
    assert isinstance(last, Stopped)
    return last


def test_return_collapses_the_call() -> None:
    assert final([CALL, 7, SEP, 9, RET, END], [4]).context == (4, 9, END)


def test_events_tell_every_token_and_every_reduction() -> None:
    events = list(reference(Scripted([CALL, 7, SEP, 9, RET, END]), [4], MARKS, end=END))
    assert [event.id for event in events if isinstance(event, Token)] == [CALL, 7, SEP, 9, RET, END]
    assert [type(event) for event in events][4:] == [Token, Reduced, Token, Stopped]


def test_the_result_counts_what_happened() -> None:
    stopped = final([CALL, 7, SEP, 9, RET, RET, END], [4])
    assert (stopped.reason, stopped.generated, stopped.peak) == ("end", 7, 6)
    assert (stopped.reductions, stopped.unmatched, stopped.depth) == (1, 1, 1)
    assert stopped.response == (9, RET, END)


def test_a_call_of_the_prompt_may_return() -> None:
    stopped = final([SEP, 8, RET, END], [4, CALL, 6])
    assert stopped.context == (4, 8, END)
    assert stopped.response == (8, END)


def test_without_marks_nothing_is_erased() -> None:
    script = [CALL, 7, SEP, 9, RET, END]
    *_, last = reference(Scripted(script), [4], None, end=END)
    assert isinstance(last, Stopped)
    assert last.context == (4, *script)


def test_scroll_keeps_only_what_follows_sep() -> None:
    *_, last = reference(Scripted([7, SEP, 8, RET, END]), [4], MARKS, end=END, scroll=True)
    assert isinstance(last, Stopped)
    assert last.context == (8, END)


@pytest.mark.parametrize("seed", range(30))
def test_the_model_reads_what_the_rule_leaves(seed: int) -> None:
    """Each token is the model's answer to the segment of `rule.replay` that precedes it."""
    model = Hashed(seed)
    events = list(reference(model, [4, 5], MARKS, limits=Limits(tokens=60)))
    said = [event.id for event in events if isinstance(event, Token)]
    expected = []
    for step in replay([4, 5], said, MARKS):
        tokens = step.before.tokens
        expected += [model.next(tokens[:end]) for end in range(step.before.start, len(tokens))]
    assert said == expected
