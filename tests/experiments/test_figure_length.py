import json
import sys
from pathlib import Path

import pytest

from experiments import figure_length
from pencil.tasks.lengths import measure_lengths


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figure_length, "PANELS", {"sat": [3], "qbf": [3], "einstein": [3]})
    monkeypatch.setattr(
        figure_length,
        "PAPER",
        {panel: {figure_length.COT: [(3, 1)]} for panel in figure_length.PANELS},
    )


@pytest.mark.usefixtures("small")
def test_the_figure_and_its_numbers_are_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["figure_length", "--count", "2", "--out", str(tmp_path)])
    figure_length.main()
    result = json.loads((tmp_path / "figure_length.json").read_text())
    rows = result["panels"]["einstein"]
    assert [row["variant"] for row in rows] == [figure_length.PENCIL, figure_length.NO_TAIL]
    assert all(row["peak"]["longest"] < row["trace"]["longest"] for row in rows)
    assert (tmp_path / "figure_length.png").read_bytes().startswith(b"\x89PNG")
    shown = capsys.readouterr().out
    assert f"{result['panels']['sat'][0]['trace']['longest']:,}" in shown


def test_the_stored_result_is_what_its_command_makes() -> None:
    stored = json.loads((figure_length.RESULTS / "figure_length.json").read_text())
    (row,) = [row for row in stored["panels"]["sat"] if row["size"] == 3]
    (task,) = figure_length.tasks_of("sat", 3).values()
    lengths = measure_lengths(task, stored["count"], stored["seed"]).as_dict()
    assert {key: row[key] for key in lengths} == lengths
