from pathlib import Path

import pytest

from experiments import figure_length
from experiments.experiment import Options
from experiments.figure_length import COT, EXPERIMENT, NO_TAIL, PENCIL, run, tasks_of
from pencil.tasks.lengths import measure_lengths


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    panels = {"sat": (3,), "qbf": (3,), "einstein": (3,)}
    monkeypatch.setattr(figure_length, "PANELS", panels)
    monkeypatch.setattr(figure_length, "LENGTHS", {panel: {COT: (3, 1)} for panel in panels})


@pytest.mark.usefixtures("small")
def test_the_figure_and_its_numbers_are_made(tmp_path: Path) -> None:
    result = run(Options(count=2))
    rows = result["panels"]["einstein"]
    assert [row["variant"] for row in rows] == [PENCIL, NO_TAIL]
    assert all(row["peak"]["longest"] < row["trace"]["longest"] for row in rows)
    EXPERIMENT.store(result, tmp_path)
    assert (tmp_path / "figure_length.png").read_bytes().startswith(b"\x89PNG")
    longest = f"{result['panels']['sat'][0]['trace']['longest']:,}"
    assert EXPERIMENT.table(result)[1] == ["SAT 3, chain of thought", "1", longest]


def test_the_stored_result_is_what_its_command_makes() -> None:
    stored = EXPERIMENT.stored()
    assert stored is not None
    (row,) = [row for row in stored["panels"]["sat"] if row["size"] == 3]
    (task,) = tasks_of("sat", 3).values()
    lengths = measure_lengths(task, stored["count"], stored["seed"]).as_dict()
    assert {key: row[key] for key in lengths} == lengths
