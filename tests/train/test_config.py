from dataclasses import replace
from typing import Any

import pytest

from pencil.errors import ConfigError, PencilError
from pencil.train.config import DataConfig, Recipe, TrainConfig
from tests.train.examples import small_recipe


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"sizes": {}}, "name at least one size"),
        ({"sizes": {3: 0.0}}, "a weight above 0"),
        ({"sizes": {3: 1.0, 99: 1.0}}, "no size 99"),
        ({"first_steps": 5}, "first_sizes is {}"),
        ({"first_steps": -1, "first_sizes": {2: 1.0}}, "first_steps is -1"),
        ({"task": "chess"}, "found no task 'chess'"),
        ({"format": "prose"}, "try one of pencil, cot, direct"),
        ({"batch": 0}, "batch is 0"),
        ({"window": 1}, "window is 1"),
        ({"stretch": 0}, "stretch is 0"),
        ({"renamed": 1.5}, "renamed is 1.5"),
        ({"rare": -0.5}, "rare is -0.5"),
        ({"rare": 0.5}, "qbf has no rare situations to begin in"),
        ({"renamed_steps": -1}, "renamed_steps is -1"),
        ({"renamed": 0.5}, "qbf has no names to exchange"),
    ],
)
def test_data_that_cannot_be_drawn_is_an_error(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(PencilError, match=message):
        replace(DataConfig("qbf", {3: 1.0}), **changes)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"steps": 0}, "steps is 0"),
        ({"minutes": 0}, "minutes is 0"),
        ({"learning_rate": -1}, "learning_rate is -1"),
        ({"learning_rate": float("nan")}, "learning_rate is nan"),
        ({"clip": 0}, "clip is 0"),
        ({"additions": 0.0}, "additions is 0.0"),
        ({"hints_fade": 1.5}, "hints_fade is 1.5"),
        ({"optimizer": "sgd"}, "try one of muon, adamw"),
        ({"fall": "stairs"}, "try one of cosine, line"),
        ({"save_every": 0}, "save_every is 0"),
    ],
)
def test_training_that_cannot_work_is_an_error(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        TrainConfig(**changes)


def test_a_window_beyond_the_model_is_an_error() -> None:
    recipe = small_recipe()
    with pytest.raises(ConfigError, match="reads only 256 tokens"):
        replace(recipe, model=replace(recipe.model, context=256))


def test_a_recipe_is_plain_data() -> None:
    plain = small_recipe().to_json()
    assert plain["data"]["sizes"] == {"2": 1.0}
    assert plain["model"]["n_layers"] == 1
    assert Recipe.from_json(plain) == small_recipe()
