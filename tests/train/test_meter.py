from dataclasses import replace

import numpy as np
import pytest

from pencil.tasks import get_task
from pencil.train.batch import make_batch
from pencil.train.meter import RECENT, Meter, StepResult
from pencil.train.pack import pack

VOCAB = get_task("qbf", 3).vocab
BATCH = make_batch([pack(VOCAB.encode("1 =".split()), VOCAB.encode("True 2 = False".split()), VOCAB.marks)])


def result(loss: float = 2.0, wrong: int = 1) -> StepResult:
    return StepResult(loss=loss, wrong=wrong, targets=4, packed=5, seconds=0.5, waited=0.1)


def test_a_report_averages_over_recent_steps() -> None:
    meter = Meter(VOCAB)
    for loss in [100.0] * 10 + [2.0] * RECENT:
        meter.add(result(loss), [BATCH], [np.array([True, False, False, False])])
    report = meter.report(step=60, steps=100, rate=0.1)
    assert report.loss == pytest.approx(0.5)
    assert report.accuracy == pytest.approx(0.75)
    assert report.tokens_per_second == pytest.approx(10)
    assert report.data_wait == pytest.approx(0.2)
    assert report.seconds_left == pytest.approx(20)


def test_slow_first_steps_do_not_count_for_the_time_left() -> None:
    meter = Meter(VOCAB)
    for number, seconds in enumerate((9.0, 2.0, 0.5, 0.5, 0.5)):
        if number:
            assert meter.report(step=number, steps=105, rate=0.1).seconds_left is None
        meter.add(replace(result(), seconds=seconds), [BATCH], [np.zeros(4, bool)])
    assert meter.report(step=5, steps=105, rate=0.1).seconds_left == pytest.approx(50)


def test_steps_on_large_problems_count_for_the_time_left() -> None:
    meter = Meter(VOCAB)
    for seconds in (9.0, 9.0, 0.5, 0.5, 2.0):
        meter.add(replace(result(), seconds=seconds), [BATCH], [np.zeros(4, bool)])
    assert meter.report(step=5, steps=105, rate=0.1).seconds_left == pytest.approx(100)


def test_time_left_is_unknown_while_the_steps_are() -> None:
    meter = Meter(VOCAB)
    meter.add(result(), [BATCH], [np.zeros(4, bool)])
    assert meter.report(step=1, steps=None, rate=0.1).seconds_left is None


def test_errors_are_counted_by_kind_of_word_and_then_forgotten() -> None:
    meter = Meter(VOCAB)
    meter.add(result(), [BATCH], [np.array([False, False, False, True])])
    meter.add(result(), [BATCH], [np.array([False, True, False, False])])
    assert meter.worst_kinds() == {"= False": 0.5, "True 0": 0.5}
    assert meter.worst_kinds() == {}
