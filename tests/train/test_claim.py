from dataclasses import replace
from pathlib import Path

import pytest

from pencil.errors import CheckpointError
from pencil.train.claim import claim, read_recipe, require_same
from tests.train.examples import small_recipe


def test_a_run_is_claimed_once(tmp_path: Path) -> None:
    claim(tmp_path / "run", small_recipe())
    with pytest.raises(CheckpointError, match="go on with it by --resume"):
        claim(tmp_path / "run", small_recipe())


def test_what_a_run_was_told_comes_back(tmp_path: Path) -> None:
    claim(tmp_path, small_recipe())
    assert read_recipe(tmp_path) == small_recipe()
    require_same(tmp_path, small_recipe())


def test_only_the_length_of_a_run_may_change(tmp_path: Path) -> None:
    recipe = small_recipe(steps=6)
    claim(tmp_path, recipe)
    require_same(tmp_path, replace(recipe, train=replace(recipe.train, steps=9)))
    with pytest.raises(CheckpointError, match="started with train minutes = None, not 3"):
        require_same(tmp_path, replace(recipe, train=replace(recipe.train, minutes=3)))
    with pytest.raises(CheckpointError, match="started with data seed = 0, not 1; resume it without this option"):
        require_same(tmp_path, replace(recipe, data=replace(recipe.data, seed=1)))


def test_steps_may_take_the_place_of_minutes(tmp_path: Path) -> None:
    claim(tmp_path, small_recipe(minutes=3))
    require_same(tmp_path, small_recipe(steps=100))


def test_there_must_be_a_run_to_resume(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="found no run to go on with"):
        read_recipe(tmp_path)


@pytest.mark.parametrize("text", ["{", "[]", "{}", '{"data": 3}', '{"data": {"sizes": {"two": 1}}}'])
def test_a_broken_description_of_a_run_is_an_error(tmp_path: Path, text: str) -> None:
    (tmp_path / "run.json").write_text(text)
    with pytest.raises(CheckpointError, match=r"run\.json: found .*, expected what a run was started with"):
        read_recipe(tmp_path)


def test_a_file_in_the_way_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(CheckpointError, match="expected a place for a run"):
        claim(tmp_path / "file" / "run", small_recipe())
