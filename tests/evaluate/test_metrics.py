from dataclasses import replace

import pytest

from pencil.evaluate.metrics import Outcome, reasoning_steps, summarise, trace_rate

TRUTH = tuple("[CALL] a [SEP] b [RETURN] c [CALL] d [SEP] e [RETURN] <|endoftext|>".split())
RIGHT = Outcome(("?",), TRUTH, TRUTH, "True", "True", "end", peak=9, reductions=2)


def test_steps_put_together_are_the_trace() -> None:
    steps = reasoning_steps(TRUTH)
    assert [len(step) for step in steps] == [5, 6, 1]
    assert tuple(word for step in steps for word in step) == TRUTH


def test_nothing_generated_is_no_step() -> None:
    assert reasoning_steps(()) == []
    assert trace_rate((), TRUTH) == 0


@pytest.mark.parametrize(
    ("generated", "rate"),
    [
        (TRUTH, 1),
        (TRUTH[:-1], 2 / 3),  # the last step is missing
        ((*TRUTH, "more"), 2 / 3),  # the last step is longer
        ((*TRUTH, "[RETURN]", "again"), 2 / 4),  # a step too many
        (("x", *TRUTH), 2 / 3),  # the first step differs
        (TRUTH[5:], 0),  # a step is skipped, and all after it stand in the wrong place
    ],
)
def test_trace_rate_counts_equal_steps_in_equal_places(generated: tuple[str, ...], rate: float) -> None:
    assert trace_rate(generated, TRUTH) == pytest.approx(rate)


@pytest.mark.parametrize(
    ("outcome", "verdict"),
    [
        (RIGHT, "right"),
        (replace(RIGHT, answer="False"), "wrong answer"),
        (replace(RIGHT, answer=None), "malformed"),
        (replace(RIGHT, answer=None, stop="empty"), "malformed"),
        (replace(RIGHT, answer=None, stop="tokens"), "over a limit"),
        (replace(RIGHT, stop="context"), "over a limit"),
        (replace(RIGHT, answer=None, stop="repetition"), "loop"),
    ],
)
def test_verdicts(outcome: Outcome, verdict: str) -> None:
    assert outcome.verdict == verdict


def test_a_summary_averages_and_counts() -> None:
    wrong = replace(RIGHT, answer="False", generated=TRUTH[:-1], peak=5, reductions=0)
    report = summarise("qbf", 3, "pencil", [RIGHT, RIGHT, RIGHT, wrong], seconds=2.0)
    assert report.accuracy == 0.75
    assert report.trace_rate == pytest.approx((3 + 2 / 3) / 4)
    assert (report.peak, report.mean_peak) == (9, 8)
    assert report.reductions == 1.5
    assert report.seconds == 0.5
    assert report.failures == {"wrong answer": 1}
    assert report.as_dict()["count"] == 4
