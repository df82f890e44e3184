import json
import sys
from pathlib import Path

import pytest

from pencil.train.journal import Journal


def test_rewinding_drops_what_will_be_done_again(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "metrics.jsonl")
    for step in (10, 20, 30):
        journal.write({"step": step, "loss": 1.5})
    with journal.path.open("a") as file:
        file.write('{"step": 4')
    journal.rewind(20)
    journal.write({"step": 30, "loss": 1.0})
    lines = [json.loads(line) for line in journal.path.read_text().splitlines()]
    assert [line["step"] for line in lines] == [10, 20, 30]
    assert lines[-1]["loss"] == 1.0


def test_tensorboard_gets_the_same_numbers_and_forgets_what_is_done_again(tmp_path: Path) -> None:
    accumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    for first, last, loss in ((1, 4, 1.0), (3, 5, 2.0)):
        journal = Journal(tmp_path / "metrics.jsonl")
        journal.rewind(first - 1)
        for step in range(first, last + 1):
            journal.write({"step": step, "loss": loss, "evaluation": [{"size": 3, "accuracy": step / 10}]})
    board = accumulator.EventAccumulator(str(tmp_path / "tensorboard")).Reload()
    assert [(event.step, event.value) for event in board.Scalars("loss")] == [(1, 1), (2, 1), (3, 2), (4, 2), (5, 2)]
    assert board.Scalars("evaluation/size 3/accuracy")[-1].value == 0.5


def test_without_tensorboard_lines_are_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    journal = Journal(tmp_path / "metrics.jsonl")
    journal.write({"step": 1, "loss": 0.5})
    assert [path.name for path in tmp_path.iterdir()] == ["metrics.jsonl"]


def test_rewinding_nothing_is_fine(tmp_path: Path) -> None:
    Journal(tmp_path / "metrics.jsonl").rewind(3)
    assert not (tmp_path / "metrics.jsonl").exists()
