from benchmarks.common import Row
from benchmarks.tasks import LONG_TRACE, long_trace, replay


def test_the_long_trace_is_one_that_reduces() -> None:
    words = long_trace()
    assert len(words) == LONG_TRACE
    assert replay(words).reductions > 1_000


def test_a_ratio_above_one_means_ours_is_better() -> None:
    assert Row.of_rates("more is better", ours=10, baseline=5).ratio == 2
    assert Row.of_seconds("less is better", ours=5, baseline=10).ratio == 2
