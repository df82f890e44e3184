from pathlib import Path

import pytest

from pencil.cli import reproduce
from tests.cli.conftest import RunPencil


def test_the_list_says_what_is_stored(pencil: RunPencil) -> None:
    shown = pencil("reproduce", "--list").out
    assert all(name in shown for name in ("table-sat-qbf", "figure-convergence", "figure-theory"))


def test_a_stored_result_is_shown_at_once(pencil: RunPencil) -> None:
    shown = pencil("reproduce", "figure-length").out
    assert "QBF 10, PENCIL" in shown
    assert "figure_length.json and .png" in shown


def test_the_same_options_show_what_they_made(pencil: RunPencil, tmp_path: Path) -> None:
    options = ["reproduce", "figure-length", "--count", 1, "--out", tmp_path]
    made = pencil(*options).out
    assert pencil(*options).out == made == pencil("reproduce", "figure-length", "--out", tmp_path).out
    other = pencil(*options, "--seed", 1)
    assert (other.status, other.out) == (2, "")


def test_what_is_not_stored_is_run(pencil: RunPencil, tmp_path: Path) -> None:
    options = ["--quick", "--runs", tmp_path, "--out", tmp_path / "results"]
    assert "counter" in pencil("reproduce", "figure-theory", *options).out
    assert sorted(path.name for path in (tmp_path / "results").iterdir()) == ["figure_theory.json", "figure_theory.png"]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ([], "found no name, expected one of table-sat-qbf"),
        (["table-9"], "found 'table-9', expected one of table-sat-qbf"),
        (["figure-length", "--count", "5"], "holds a figure-length made with other options; run it with --again"),
        (["table-puzzle", "--again", "--use", "einstein-cot"], "expected MODEL=DIR"),
        (["table-puzzle", "--again", "--use", "chess=runs/chess"], "found no model 'chess' in this experiment"),
    ],
)
def test_bad_input_is_one_line(pencil: RunPencil, arguments: list[str], complaint: str) -> None:
    result = pencil("reproduce", *arguments)
    assert (result.status, result.out) == (2, "")
    assert complaint in result.err
    assert result.err.count("\n") == 1


def test_without_a_clone_there_is_nothing_to_run(pencil: RunPencil, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise ModuleNotFoundError(name=name.partition(".")[0])

    monkeypatch.setattr(reproduce, "import_module", missing)
    assert "found no experiments; run this in a clone" in pencil("reproduce", "figure-length").err
