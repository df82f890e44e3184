import json
from pathlib import Path

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


def test_rewinding_nothing_is_fine(tmp_path: Path) -> None:
    Journal(tmp_path / "metrics.jsonl").rewind(3)
    assert not (tmp_path / "metrics.jsonl").exists()
