from benchmarks.common import Row
from benchmarks.tasks import replay, replay_by_searching
from pencil import get_task


def test_both_replays_agree() -> None:
    for name in ("sat", "qbf"):
        task = get_task(name, 6)
        generated = task.trace(task.draw(0)).generated
        assert replay(generated) == replay_by_searching(generated)


def test_a_ratio_above_one_means_ours_is_better() -> None:
    assert Row.of_rates("more is better", ours=10, baseline=5).ratio == 2
    assert Row.of_seconds("less is better", ours=5, baseline=10).ratio == 2
