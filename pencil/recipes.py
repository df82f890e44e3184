"""Named runs, as functions: `pencil train NAME`.

CPU recipes are sized for two cores and one problem size each; mixed ones cover many sizes with one model; those named
`paper_...` have the paper's model sizes and are meant for a GPU. The paper prints no batch size and no learning rate.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from pencil.errors import ConfigError
from pencil.model.presets import preset
from pencil.tasks import Format, get_task
from pencil.train.config import DataConfig, Recipe, TrainConfig

PUZZLES: dict[str, Any] = {"rope_base": 1e5, "recent": 8, "levels": 2, "frames": 2, "outermost": True}
"""A word of a puzzle sees its call, the one around it and the clues, and no table of a branch further up."""
FORMULAS: dict[str, Any] = {"recent": 8, "pairs": True, "levels": 2, "frames": 2}
"""A word of SAT knows the clause that it ends, and sees the formula that it is copied from and none above it."""


def qbf3() -> Recipe:
    """QBF with 3 variables, 0.8M parameters, on two CPU cores."""
    return _recipe("qbf", [3], "tiny", TrainConfig(steps=3_000, evaluate_every=1_500))


def sat3() -> Recipe:
    """SAT with 3 variables, 1.3M parameters, on two CPU cores."""
    return _recipe("sat", [3], "tiny", TrainConfig(steps=4_000, evaluate_every=2_000), hints=False, **FORMULAS)


def einstein3() -> Recipe:
    """Puzzles of 3 houses, 1.6M parameters, on two CPU cores."""
    train = TrainConfig(steps=5_500, learning_rate=4e-3, fall="line", hints_fade=0.7)
    return _recipe("einstein", [3], "small", train, stretch=600, choices=8, rare=0.25, n_layers=7, **PUZZLES)


def einstein4() -> Recipe:
    """Puzzles of 4 houses, 2.4M parameters, an hour on two CPU cores."""
    train = TrainConfig(steps=4_000, learning_rate=4e-3, fall="line", hints_fade=0.7)
    return _puzzles([4], train, window=2_048, d_model=160)


def einstein5() -> Recipe:
    """Puzzles of 5 houses, 2.0M parameters, hours on a CPU."""
    train = TrainConfig(steps=8_000, learning_rate=4e-3, fall="line", hints_fade=0.7)
    return _puzzles([5], train, window=4_096, d_model=144)


def einstein() -> Recipe:
    """Puzzles of 4 and 5 houses, one model of 3.4M parameters, hours on a CPU."""
    train = TrainConfig(steps=3_000, learning_rate=5e-3, fall="line", hints_fade=0.7)
    drawn: dict[str, Any] = {"batch": 4, "choices": 4, "first": (3, 4)}
    return _puzzles({4: 1.0, 5: 3.0}, train, window=4_096, d_model=192, **drawn)


def einstein_wide() -> Recipe:
    """Puzzles of 4 and 5 houses, 3.4M parameters; goes on where `einstein` ends, from any stretch."""
    recipe = einstein()
    return replace(recipe, data=replace(recipe.data, sizes={4: 1.0, 5: 4.0}, choices=1, rare=0.35))


def qbf() -> Recipe:
    """QBF with 3 to 10 variables, one model of 1.2M parameters, hours on a CPU."""
    train = TrainConfig(steps=20_000, evaluate_every=10_000)
    return _start_with(_recipe("qbf", range(3, 11), "small", train, batch=4, stretch=300), [3], steps=1_000)


def sat() -> Recipe:
    """SAT with 3 to 10 variables, one model of 2.5M parameters, hours on a CPU."""
    train = TrainConfig(steps=8_500, learning_rate=4e-3, fall="line", additions=0.3, hints_fade=0.5)
    weights = {size: 1.0 if size < 8 else 2.0 for size in range(3, 11)}
    drawn: dict[str, Any] = {"batch": 2, "stretch": 3_000, "renamed": 0.7, "renamed_steps": 5_500}
    recipe = _recipe("sat", weights, "small", train, window=3_072, n_layers=8, places=512, **drawn, **FORMULAS)
    model = replace(recipe.model, n_heads=2, rope_base=1e12)  # wide heads, most of which does not rotate, find a place
    return _start_with(replace(recipe, model=model), range(3, 6), steps=400)


def paper_sat() -> Recipe:
    """SAT with 10 variables at the paper's size, 10.63M parameters, on a GPU."""
    return _recipe("sat", [10], "paper-10m", PAPER, batch=32, stretch=2_000, hints=False)


def paper_qbf() -> Recipe:
    """QBF with 10 variables at the paper's size, 10.63M parameters, on a GPU."""
    return _recipe("qbf", [10], "paper-10m", PAPER, batch=32, stretch=2_000, hints=False)


def paper_einstein() -> Recipe:
    """Puzzles of 5 houses at the paper's size, 25.19M parameters, on a GPU."""
    return _recipe("einstein", [5], "paper-25m", PAPER, batch=32, stretch=2_000, hints=False)


PAPER = TrainConfig(steps=50_000, learning_rate=1e-3, warmup=500, evaluate_every=5_000, save_every=1_000)

RECIPES: dict[str, Callable[[], Recipe]] = {
    function.__name__: function
    for function in (
        qbf3,
        sat3,
        einstein3,
        einstein4,
        einstein5,
        einstein,
        einstein_wide,
        qbf,
        sat,
        paper_sat,
        paper_qbf,
        paper_einstein,
    )
}


def get_recipe(name: str) -> Recipe:
    """A recipe by its name."""
    if name not in RECIPES:
        raise ConfigError(f"found no recipe {name!r}, expected one of {', '.join(RECIPES)}")
    return RECIPES[name]()


def adjust(
    recipe: Recipe,
    format: Format | None = None,
    steps: int | None = None,
    minutes: float | None = None,
    seed: int | None = None,
    hints: bool | None = None,
    start: str | None = None,
    rate: float | None = None,
) -> Recipe:
    """The recipe with what a command line may change."""
    if steps is not None and minutes is not None:
        raise ConfigError("found both steps and minutes; give one of them")
    data, train = recipe.data, recipe.train
    if format is not None:
        data = replace(data, format=format)
    if steps is not None:
        train = replace(train, steps=steps)
    if minutes is not None:
        train = replace(train, minutes=minutes)
    if hints is not None:
        data = replace(data, hints=hints)
    if start is not None:  # small problems and other names first are for weights at random
        renamed_steps = None if data.renamed_steps is None else 0
        data, train = replace(data, first_steps=0, renamed_steps=renamed_steps), replace(train, start=start)
    if rate is not None:
        train = replace(train, learning_rate=rate)
    if seed is not None:
        data, train = replace(data, seed=seed), replace(train, seed=seed)
    return replace(recipe, data=data, train=train)


def _recipe(
    task: str,
    sizes: Mapping[int, float] | range | list[int],
    model: str,
    train: TrainConfig,
    batch: int = 4,
    stretch: int | None = None,
    choices: int = 1,
    rare: float = 0.0,
    renamed: float = 0.0,
    renamed_steps: int | None = None,
    window: int = 2_048,
    hints: bool = True,
    **changes: Any,
) -> Recipe:
    """A recipe for problem sizes that are drawn equally often, or with the weights given; `changes` of the preset."""
    weights = dict(sizes) if isinstance(sizes, Mapping) else dict.fromkeys(sizes, 1.0)
    words = len(get_task(task, max(weights)).vocab)
    sampled: dict[str, Any] = {"stretch": stretch, "choices": choices, "rare": rare, "window": window}
    names: dict[str, Any] = {"renamed": renamed, "renamed_steps": renamed_steps}
    data = DataConfig(task, weights, batch=batch, hints=hints, **sampled, **names)
    return Recipe(data, preset(model, words, context=window, **changes), train)


def _puzzles(
    sizes: Mapping[int, float] | list[int],
    train: TrainConfig,
    window: int,
    d_model: int,
    batch: int = 2,
    choices: int = 8,
    first: Iterable[int] = (3,),
) -> Recipe:
    """Large puzzles, after a few small ones; a head for each category and one more, and a layer to weigh houses in."""
    shape: dict[str, Any] = {"n_layers": 7, "d_model": d_model, "n_heads": max(sizes) + 1}
    drawn: dict[str, Any] = {"batch": batch, "stretch": 1_200, "choices": choices, "rare": 0.25, "window": window}
    return _start_with(_recipe("einstein", sizes, "small", train, **drawn, **shape, **PUZZLES), first, steps=600)


def _start_with(recipe: Recipe, sizes: Iterable[int], steps: int) -> Recipe:
    """Small problems first."""
    return replace(recipe, data=replace(recipe.data, first_sizes=dict.fromkeys(sizes, 1.0), first_steps=steps))
