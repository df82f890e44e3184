import sys
from itertools import pairwise
from pathlib import Path

import pytest

from pencil.errors import PencilError
from pencil.theory.machines import load
from pencil.theory.picture import draw_tape, record_tape, save_tape


def test_a_short_run_has_a_snapshot_of_every_step() -> None:
    history = record_tape(load("palindrome"), "abba")
    assert [snapshot.step for snapshot in history.snapshots] == list(range(17))


@pytest.mark.parametrize("rows", [2, 7, 12, 50])
def test_a_long_run_is_sampled_evenly_and_keeps_its_end(rows: int) -> None:
    steps = [snapshot.step for snapshot in record_tape(load("bb4"), rows=rows).snapshots]
    assert rows / 2 < len(steps) <= rows
    assert (steps[0], steps[-1]) == (0, 107)
    assert len({later - step for step, later in pairwise(steps[:-1])}) <= 1


def test_the_image_has_the_blank_as_zero() -> None:
    image = record_tape(load("bb2")).image()
    assert image.tolist()[:3] == [[0, 0, 0, 0], [0, 0, 2, 0], [0, 0, 2, 2]]


def test_a_tape_that_does_not_fit_is_drawn_as_blocks() -> None:
    lines = draw_tape(record_tape(load("walker"), "a" * 30, rows=5), width=40).plain.splitlines()
    assert all(len(line) <= 40 and line.count("◆") == 1 for line in lines)
    assert "░" in lines[0]


def test_an_image_is_written(tmp_path: Path) -> None:
    save_tape(record_tape(load("counter"), "#000"), tmp_path / "tape.png")
    assert (tmp_path / "tape.png").read_bytes().startswith(b"\x89PNG")


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(PencilError, match=r"cannot write .*tape\.png"):
        save_tape(record_tape(load("bb2")), tmp_path / "nowhere" / "tape.png")
    with pytest.raises(PencilError, match=r"cannot write .*tape\.tune"):
        save_tape(record_tape(load("bb2")), tmp_path / "tape.tune")


def test_a_missing_matplotlib_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(PencilError, match=r"pip install 'pencil\[plot\]'"):
        save_tape(record_tape(load("bb2")), tmp_path / "tape.png")
