from pathlib import Path

import pytest

from experiments.measure import measure
from pencil.evaluate import evaluate
from pencil.model.checkpoint import Checkpoint, read
from pencil.model.transformer import ModelConfig, Transformer
from pencil.tasks import TASKS, get_task
from tests.generate.conftest import Total, adder

__all__ = ["adder"]


def untrained(format: str, context: int) -> Checkpoint:
    vocab = get_task("sat", 3).vocab
    model = Transformer(ModelConfig(len(vocab), n_layers=1, d_model=16, n_heads=2, context=context))
    return Checkpoint(model, vocab, "sat", (3,), format)


def test_the_figures_are_those_of_evaluate(adder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(TASKS, "total", Total)
    checkpoint, task = read(adder), Total(3)
    ours = measure(checkpoint, task, 12, seed=0)
    theirs, _ = evaluate(checkpoint.model, checkpoint.vocab, task, "pencil", 12, 0)
    assert 0 < ours["accuracy"] < 1
    for name in ("accuracy", "trace_rate", "count"):
        assert ours[name] == theirs.as_dict()[name]
    assert sum(right for right, *_ in ours["each"]) == round(12 * theirs.accuracy)


def test_one_at_a_time_gives_each_its_own_seconds(adder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(TASKS, "total", Total)
    done: list[int] = []
    report = measure(read(adder), Total(3), 3, seed=0, rows=1, progress=done.append)
    assert done == [1, 2, 3]
    assert sum(seconds for _, seconds, _ in report["each"]) <= 3 * report["seconds"]


def test_a_chain_of_thought_ends_with_its_window() -> None:
    report = measure(untrained("cot", context=200), get_task("sat", 3), 2, seed=0)
    assert report["peak"] <= 201
    assert report["accuracy"] == 0


@pytest.mark.parametrize("format", ["pencil", "direct"])
def test_a_model_that_does_not_end_is_stopped(format: str) -> None:
    task = get_task("sat", 3)
    report = measure(untrained(format, context=2048), task, 2, seed=0, most=40)
    assert report["tokens"] <= 40
    assert set(report["failures"]) <= {"over a limit", "loop"}
