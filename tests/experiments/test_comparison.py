import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from experiments import comparison
from experiments.comparison import RATES, TIMED, Paper, cells, jobs, one_at_a_time, points, shipped, spent, table
from experiments.experiment import Options, Result
from experiments.models import Job, Measure
from experiments.models import _folder as folder
from experiments.models import _require_same as require_same

MEASURED = Path(__file__).parents[2] / "experiments" / "results" / "measured"


def test_a_size_without_a_number_is_a_dash() -> None:
    assert cells([{"size": 3, "accuracy": 0.985}], "accuracy", (3, 4)) == ["98.5", "-"]


def test_every_number_says_what_it_took() -> None:
    assert spent({"steps": 100, "minutes": 61.7}) == "62 min"
    assert spent({"steps": 3, "minutes": None}) == "3 steps"


def test_the_paper_ours_and_what_ships_are_beside_each_other() -> None:
    paper: Paper = {"sat": {"pencil": {"accuracy": (100.0, 99.0)}}}
    result = {
        "models": {"sat-pencil": {"steps": 9, "minutes": 30.0, "reports": [{"size": 3, "accuracy": 0.5}]}},
        "ships": {"sat": [{"model": "sat", "hours": 2.0, "size": 4, "accuracy": 1.0}]},
    }
    assert table(paper, (3, 4), result) == [
        ["", "3", "4"],
        ["SAT, PENCIL, accuracy: paper", "100", "99"],
        ["SAT, PENCIL, accuracy: ours, 30 min", "50", "-"],
        ["SAT, PENCIL, accuracy: the model that ships, 2.0 h", "-", "100"],
    ]


def test_a_task_has_one_model_for_each_format_or_one_for_each_size() -> None:
    assert [job.name for job in jobs("sat", ("cot", "pencil"), Options())] == ["sat-cot", "sat-pencil"]
    puzzles = jobs("einstein", ("cot", "pencil"), Options())
    assert [job.name for job in puzzles[:3]] == [f"einstein-cot-einstein{size}" for size in (3, 4, 5)]
    assert [job.minutes for job in puzzles[:3]] == [job.minutes for job in puzzles[3:]]
    assert {job.recipe.train.learning_rate for job in puzzles if job.recipe} == {RATES["einstein"]}


def test_models_for_each_size_fill_one_line() -> None:
    models = {
        f"einstein-pencil-einstein{size}": {"steps": 9, "minutes": 30.0, "reports": [{"size": size, "accuracy": share}]}
        for size, share in ((3, 1.0), (4, 0.75))
    }
    result = {"models": models, "ships": {"einstein": []}}
    [_, _, ours] = table({"einstein": {"pencil": {"accuracy": (100.0, 99.0)}}}, (3, 4), result)
    assert ours == ["Einstein's puzzle, PENCIL, accuracy: ours, 60 min", "100", "75"]


def test_what_ships_is_read_from_its_card(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pencil.model.pretrained.HOME", tmp_path)
    (tmp_path / "mine").mkdir()
    facts = {"runs": [{"hours": 1.0}, {"hours": 0.5}], "evaluation": [{"size": 3, "accuracy": 0.9}]}
    (tmp_path / "mine" / "config.json").write_text(json.dumps({"task": "sat", "sizes": [3]}))
    (tmp_path / "mine" / "metrics.json").write_text(json.dumps(facts))
    assert shipped("sat") == [{"model": "mine", "hours": 1.5, "size": 3, "accuracy": 0.9}]
    assert shipped("qbf") == []


def test_what_solves_no_size_is_not_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    def finish(jobs: Sequence[Job], what: str, measure: Measure, options: Options) -> dict[str, Result]:
        assert set(options.use) <= {job.name for job in jobs}
        return {job.name: {"reports": [what]} for job in jobs}

    monkeypatch.setattr(comparison, "finish", finish)
    measured = {
        "good": {"minutes": 5, "reports": [{"accuracy": 0.95}]},
        "bad": {"minutes": 5, "reports": [{"accuracy": 0.9}]},
    }
    options = Options(use={"good": Path("a"), "bad": Path("b")})
    assert one_at_a_time([Job("good"), Job("bad"), Job("ships")], measured, options) == {
        "good": {"reports": ["alone-20-0"]},
        "bad": {"minutes": 5, "reports": []},
        "ships": {"reports": ["alone-20-0"]},
    }


def test_a_curve_has_one_point_for_each_size_in_their_order() -> None:
    reports = [{"size": 3, "accuracy": 0.9}, {"size": 5, "accuracy": 0.5}, {"size": 3, "accuracy": 1.0}]
    assert points(reports, "accuracy") == ([3, 5], [100, 50])


@pytest.mark.parametrize("task", ["sat", "qbf", "einstein"])
def test_what_was_measured_is_of_the_models_that_would_be_trained_today(task: str) -> None:
    for job in jobs(task, TIMED, Options()):
        [path] = (MEASURED / folder(job)).glob("sizes-*.json")
        require_same(job, path)
