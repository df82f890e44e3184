import json
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest

from experiments import models
from experiments.experiment import Options
from experiments.models import Job, finish, hours, recipe_for, seconds_a_step
from pencil.errors import PencilError
from pencil.model.checkpoint import Checkpoint
from tests.train.examples import small_recipe


def look_at(checkpoint: Checkpoint, run: Path) -> dict[str, Any]:
    return {"sizes": checkpoint.sizes, "run": str(run)}


def test_a_model_is_trained_measured_and_kept(tmp_path: Path) -> None:
    job = Job("mine", small_recipe(steps=2))
    first = finish([job], "look", look_at, Options(runs=tmp_path))
    assert first["mine"]["sizes"] == [2]
    assert (first["mine"]["steps"], first["mine"]["instances"]) == (2, 4)
    before = sorted((tmp_path / "mine-quick").rglob("*"))
    assert finish([job], "look", lambda *_: pytest.fail("measured twice"), Options(runs=tmp_path)) == first
    assert sorted((tmp_path / "mine-quick").rglob("*")) == before


def test_what_was_measured_may_be_kept_apart_from_the_model(tmp_path: Path) -> None:
    job = Job("mine", small_recipe(steps=2))
    first = finish([job], "look", look_at, Options(runs=tmp_path / "here", measured=tmp_path / "kept"))
    elsewhere = Options(runs=tmp_path / "there", measured=tmp_path / "kept")
    assert finish([job], "look", lambda *_: pytest.fail("measured twice"), elsewhere) == first
    assert not (tmp_path / "there" / "mine-quick" / "run").exists()


def test_another_measure_takes_the_same_model(tmp_path: Path) -> None:
    job, options = Job("mine", small_recipe(steps=2)), Options(runs=tmp_path)
    finish([job], "one", look_at, options)
    journal = (tmp_path / "mine-quick" / "run" / "metrics.jsonl").read_text()
    finish([job], "two", look_at, options)
    trained = [line for line in journal.splitlines() if "loss" in line]
    after = (tmp_path / "mine-quick" / "run" / "metrics.jsonl").read_text()
    assert [line for line in after.splitlines() if "loss" in line] == trained


def test_a_stopped_run_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    job, options = Job("mine", small_recipe(steps=4, save_every=1)), Options(runs=tmp_path)

    def stop(checkpoint: Checkpoint, run: Path) -> dict[str, Any]:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        finish([job], "look", stop, options)
    assert finish([job], "look", look_at, options)["mine"]["steps"] == 4


def test_minutes_become_steps_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    speeds = iter([3.0])
    monkeypatch.setattr(models, "seconds_a_step", lambda recipe: next(speeds))
    recipe = small_recipe(steps=100)
    recipe = replace(recipe, data=replace(recipe.data, first_sizes={2: 1.0}, first_steps=50, renamed_steps=75))
    job = Job("mine", recipe, minutes=0.2)
    for what in ("one", "two"):  # the second time goes on with the steps of the first
        assert finish([job], what, look_at, Options(runs=tmp_path))["mine"]["steps"] == 4
    asked = json.loads((tmp_path / "mine-0.2m" / "run" / "run.json").read_text())
    assert (asked["train"]["steps"], asked["data"]["first_steps"], asked["data"]["renamed_steps"]) == (4, 2, 3)


def test_speed_is_measured_in_seconds_of_the_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models, "CALIBRATION", 8)
    assert 0 < seconds_a_step(small_recipe()) < 5


def test_looks_are_noted_in_the_journal(tmp_path: Path) -> None:
    job = Job("mine", small_recipe(steps=4), looks=2, look=lambda model: {"seen": model.parameter_count})
    finish([job], "look", look_at, Options(runs=tmp_path))
    lines = (tmp_path / "mine-quick" / "run" / "metrics.jsonl").read_text().splitlines()
    assert [entry["step"] for entry in map(json.loads, lines) if "seen" in entry] == [2, 4]


def test_a_finished_run_may_stand_in(tmp_path: Path) -> None:
    finish([Job("other", small_recipe(steps=3))], "look", look_at, Options(runs=tmp_path))
    run = tmp_path / "other-quick" / "run"
    options = Options(runs=tmp_path, use={"mine": run})
    result = finish([Job("mine", small_recipe(steps=99))], "look", look_at, options)
    assert (result["mine"]["run"], result["mine"]["steps"]) == (str(run), 3)
    assert hours(result) == pytest.approx(result["mine"]["measured_in_minutes"] / 60)
    with pytest.raises(PencilError, match="found no model 'mine' in this experiment, expected one of yours"):
        finish([Job("yours", small_recipe())], "look", look_at, options)


def hold(place: Path, held: Any, release: Any) -> None:
    with models._lock(place, wait=True):
        held.set()
        release.wait(30)


def test_what_another_process_is_at_is_left_to_it(tmp_path: Path) -> None:
    context = get_context("spawn")
    held, release = context.Event(), context.Event()
    other = context.Process(target=hold, args=(tmp_path, held, release))
    other.start()
    assert held.wait(120)
    with models._lock(tmp_path, wait=False) as ours:
        assert not ours
    release.set()
    with models._lock(tmp_path, wait=True) as ours:
        assert ours
    other.join()


def test_a_recipe_in_another_format_and_size() -> None:
    recipe = recipe_for("qbf3", "cot", Options(seed=7), sizes=[4])
    assert (recipe.data.format, dict(recipe.data.sizes), recipe.data.seed) == ("cot", {4: 1.0}, 7)
    assert recipe.model.n_layers > 1
    assert recipe_for("sat", "pencil", Options(quick=True)).model.n_layers == 1


def test_what_was_measured_of_another_recipe_is_not_taken(tmp_path: Path) -> None:
    options = Options(runs=tmp_path)
    finish([Job("mine", small_recipe(steps=2))], "look", look_at, options)
    with pytest.raises(PencilError, match="found figures of another model"):
        finish([Job("mine", small_recipe(steps=3))], "look", look_at, options)


def test_what_was_measured_of_other_weights_is_not_taken(tmp_path: Path) -> None:
    options, latest = Options(runs=tmp_path), tmp_path / "latest"
    finish([Job("short", small_recipe(steps=2)), Job("long", small_recipe(steps=3))], "look", look_at, options)
    latest.symlink_to(tmp_path / "short-quick" / "run")
    job = Job("mine", source=latest)
    first = finish([job], "look", look_at, options)
    assert finish([job], "look", lambda *_: pytest.fail("measured twice"), options) == first
    latest.unlink()
    latest.symlink_to(tmp_path / "long-quick" / "run")
    with pytest.raises(PencilError, match="found figures of another model"):
        finish([job], "look", look_at, options)


def test_what_was_measured_before_a_field_was_added_is_taken(tmp_path: Path) -> None:
    job, options = Job("mine", small_recipe(steps=2)), Options(runs=tmp_path)
    finish([job], "look", look_at, options)
    path = tmp_path / "mine-quick" / "look.json"
    kept = json.loads(path.read_text())
    del kept["recipe"]["model"]["outermost"]
    path.write_text(json.dumps(kept))
    assert finish([job], "look", lambda *_: pytest.fail("measured twice"), options)["mine"] == kept
    kept["recipe"]["model"]["colour"] = "blue"
    path.write_text(json.dumps(kept))
    with pytest.raises(PencilError, match="found figures of another model"):
        finish([job], "look", look_at, options)
