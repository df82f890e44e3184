import json
from pathlib import Path

import pytest

from pencil import get_task
from pencil.tasks.dataset import DatasetError, write_dataset
from pencil.tasks.einstein import Einstein
from pencil.tokens import join

TASK = get_task("sat", 3)


def test_a_record_holds_the_trace_and_its_sizes(tmp_path: Path) -> None:
    (first,) = map(json.loads, write_dataset(TASK, 1, 5, tmp_path).read_text().splitlines())
    trace = TASK.trace(TASK.draw(5, 0))
    assert first["prompt"] == join(trace.prompt)
    assert first["trace"] == join(trace.generated)
    assert first["answer"] == TASK.answer(trace.final)
    assert first["peak"] == trace.stats().peak


def test_workers_do_not_change_the_bytes(tmp_path: Path) -> None:
    alone = write_dataset(TASK, 50, 0, tmp_path / "alone", workers=1)
    together = write_dataset(TASK, 50, 0, tmp_path / "together", workers=2)
    assert alone.read_bytes() == together.read_bytes()


@pytest.mark.parametrize("cut", [0, 1, 1000, 5000])
def test_writing_goes_on_where_it_stopped(tmp_path: Path, cut: int) -> None:
    whole = write_dataset(TASK, 20, 0, tmp_path).read_bytes()
    (tmp_path / "data.jsonl").rename(tmp_path / "data.jsonl.partial")
    (tmp_path / "data.jsonl.partial").write_bytes(whole[:cut])
    assert write_dataset(TASK, 20, 0, tmp_path).read_bytes() == whole


def test_an_interruption_keeps_what_is_done(tmp_path: Path) -> None:
    def stop_after_one_chunk(done: int) -> None:
        if done:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_dataset(TASK, 100, 0, tmp_path, progress=stop_after_one_chunk)
    assert not (tmp_path / "data.jsonl").exists()
    assert len((tmp_path / "data.jsonl.partial").read_text().splitlines()) == 16
    whole = write_dataset(TASK, 100, 0, tmp_path / "whole").read_bytes()
    assert write_dataset(TASK, 100, 0, tmp_path).read_bytes() == whole


def test_a_finished_dataset_is_not_written_again(tmp_path: Path) -> None:
    file = write_dataset(TASK, 3, 0, tmp_path)
    before = file.stat().st_mtime_ns
    assert write_dataset(TASK, 3, 0, tmp_path).stat().st_mtime_ns == before


def test_a_foreign_directory_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("precious")
    with pytest.raises(DatasetError, match="is not empty"):
        write_dataset(TASK, 3, 0, tmp_path)


def test_a_tasks_settings_make_another_dataset(tmp_path: Path) -> None:
    write_dataset(Einstein(3), 3, 0, tmp_path)
    with pytest.raises(DatasetError, match="holds another dataset"):
        write_dataset(Einstein(3, minimal=True), 3, 0, tmp_path)


@pytest.mark.parametrize("content", [b"", b"[", b"\xff\xfe"])
def test_a_broken_description_is_a_clear_error(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "meta.json").write_bytes(content)
    with pytest.raises(DatasetError, match=r"meta.json: found .* expected what a dataset is"):
        write_dataset(TASK, 3, 0, tmp_path)


def test_what_cannot_be_written_is_a_clear_error(tmp_path: Path) -> None:
    write_dataset(TASK, 3, 0, tmp_path).unlink()
    (tmp_path / "data.jsonl.partial").mkdir()
    with pytest.raises(DatasetError, match=r"data.jsonl.partial: found Is a directory, expected a place"):
        write_dataset(TASK, 3, 0, tmp_path)


def test_a_file_is_no_directory(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(DatasetError, match="expected a place for a dataset"):
        write_dataset(TASK, 3, 0, tmp_path / "file")
