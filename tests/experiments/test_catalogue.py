import json
from pathlib import Path

import pytest

from experiments.catalogue import EXPERIMENTS
from experiments.experiment import RESULTS, Options, as_text

TRAINED = ["table-sat-qbf", "table-puzzle", "figure-time", "figure-convergence", "figure-size"]


@pytest.mark.parametrize("name", TRAINED)
def test_a_quick_run_trains_measures_draws_and_prints(name: str, tmp_path: Path) -> None:
    experiment = EXPERIMENTS[name]
    result = experiment.make(Options(quick=True, runs=tmp_path / "runs"))
    experiment.store(result, tmp_path)
    assert experiment.stored(tmp_path) == json.loads(json.dumps(result))
    assert (tmp_path / f"{experiment.file}.png").read_bytes().startswith(b"\x89PNG")
    assert "ours" in as_text(experiment.table(result))


def test_the_names_are_those_of_the_paper() -> None:
    assert set(EXPERIMENTS) == {*TRAINED, "figure-length", "figure-theory"}


@pytest.mark.parametrize("path", sorted(RESULTS.glob("*.json")), ids=lambda path: path.stem)
def test_a_stored_result_belongs_to_an_experiment_and_has_its_plot(path: Path) -> None:
    experiment = EXPERIMENTS[path.stem.replace("_", "-")]
    stored = experiment.stored()
    assert stored is not None
    assert not [name for name in stored.get("models", {}) if stored["models"][name]["minutes"] is None]  # never quick
    assert experiment.table(stored)
    assert path.with_suffix(".png").exists()
