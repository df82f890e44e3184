import json
from pathlib import Path

import pytest

from tests.cli.conftest import RunPencil


def test_a_dataset_has_one_line_for_each_instance(pencil: RunPencil, tmp_path: Path) -> None:
    result = pencil("data", "sat", "--size", 3, "--count", 20, "-o", tmp_path / "out")
    assert result.out.strip() == str(tmp_path / "out" / "data.jsonl")
    lines = (tmp_path / "out" / "data.jsonl").read_text().splitlines()
    assert [json.loads(line)["index"] for line in lines] == list(range(20))


def test_a_directory_with_another_dataset_is_left_alone(pencil: RunPencil, tmp_path: Path) -> None:
    pencil("data", "sat", "--size", 3, "--count", 2, "-o", tmp_path / "out")
    before = (tmp_path / "out" / "data.jsonl").read_bytes()
    result = pencil("data", "sat", "--size", 3, "--count", 3, "-o", tmp_path / "out")
    assert result.status == 2
    assert "holds another dataset" in result.err
    assert (tmp_path / "out" / "data.jsonl").read_bytes() == before


def test_an_interruption_says_how_to_go_on(pencil: RunPencil, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*arguments: object) -> Path:
        raise KeyboardInterrupt

    monkeypatch.setattr("pencil.tasks.dataset.write_dataset", interrupted)
    result = pencil("data", "sat", "-o", tmp_path)
    assert result.status == 130
    assert "run the same command again" in result.err
