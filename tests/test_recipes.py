from dataclasses import replace

import pytest

from pencil.errors import ConfigError
from pencil.model.transformer import Transformer
from pencil.recipes import RECIPES, adjust, get_recipe, qbf3
from pencil.train.data import Data


@pytest.mark.parametrize("name", RECIPES)
def test_a_recipe_fits_together(name: str) -> None:
    recipe = get_recipe(name)
    data = Data(replace(recipe.data, batch=1, first_steps=0))  # of the sizes that it is for
    [batch] = data[0]
    assert batch.ids.max() < recipe.model.vocab_size == len(data.vocab)
    assert batch.positions.max() < recipe.model.context
    assert recipe.train.warmup < recipe.train.steps


@pytest.mark.parametrize(
    ("name", "millions"),
    [
        ("paper_sat", 10.63),
        ("paper_qbf", 10.63),
        ("paper_einstein", 25.19),
        ("qbf3", 0.79),
        ("sat3", 1.29),
        ("einstein", 3.40),
    ],
)
def test_models_have_the_sizes_that_are_named(name: str, millions: float) -> None:
    count = Transformer(get_recipe(name).model).parameter_count
    assert count / 1e6 == pytest.approx(millions, rel=0.01)


def test_an_unknown_recipe_is_an_error() -> None:
    with pytest.raises(ConfigError, match="found no recipe 'qbf33', expected one of qbf3, sat3"):
        get_recipe("qbf33")


def test_what_a_command_line_may_change() -> None:
    changed = adjust(qbf3(), format="cot", steps=7, seed=3)
    assert (changed.data.format, changed.data.seed) == ("cot", 3)
    assert (changed.train.steps, changed.train.seed) == (7, 3)
    assert not adjust(qbf3(), hints=False).data.hints
    assert adjust(qbf3(), minutes=1.5).train.minutes == 1.5
    assert adjust(qbf3(), rate=0.5).train.learning_rate == 0.5
    assert adjust(qbf3()) == qbf3()


def test_what_comes_first_is_left_out_of_a_run_that_starts_with_a_model() -> None:
    recipe = adjust(get_recipe("sat"), start="sat")
    assert (recipe.train.start, recipe.data.first_steps, recipe.data.renamed_steps) == ("sat", 0, 0)


def test_steps_and_minutes_exclude_each_other() -> None:
    with pytest.raises(ConfigError, match="give one of them"):
        adjust(qbf3(), steps=1, minutes=1)
