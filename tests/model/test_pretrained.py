import json
from pathlib import Path
from typing import Any

import pytest

import pencil
from experiments.ship import card
from pencil.errors import CheckpointError
from pencil.evaluate import evaluate
from pencil.generate.engine import Engine
from pencil.model.checkpoint import Checkpoint, read, save
from pencil.model.int8 import to_int8
from pencil.model.pretrained import Bundled, bundled, find, locate
from pencil.model.transformer import ModelConfig, Transformer
from pencil.tasks import get_task


def ship(home: Path, name: str, task: str, *sizes: int, accuracy: float | None = None) -> None:
    vocab = get_task(task, max(sizes)).vocab
    model = Transformer(ModelConfig(len(vocab), n_layers=1, d_model=16, n_heads=2, context=64))
    metrics: dict[str, Any] = {"hours": 1.5}
    if accuracy is not None:
        metrics["evaluation"] = [{"size": size, "accuracy": accuracy} for size in sizes]
    save(Checkpoint(model, vocab, task, sizes, metrics=metrics), home / name, half=True)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "home"
    ship(home, "sat", "sat", 3, 4)
    ship(home, "einstein3", "einstein", 3)
    ship(home, "einstein5", "einstein", 5)
    monkeypatch.setattr("pencil.model.pretrained.HOME", home)
    return home


@pytest.mark.usefixtures("home")
def test_models_are_listed_without_their_weights() -> None:
    assert [(model.name, model.task, model.sizes) for model in bundled()] == [
        ("einstein3", "einstein", (3,)),
        ("einstein5", "einstein", (5,)),
        ("sat", "sat", (3, 4)),
    ]
    assert bundled()[0].facts == {"hours": 1.5}


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize(
    ("task", "size", "name"),
    [("sat", 3, "sat"), ("sat", 99, "sat"), ("einstein", 3, "einstein3"), ("einstein", 5, "einstein5")],
)
def test_a_problem_finds_the_model_of_its_size(task: str, size: int, name: str) -> None:
    model = find(task, size)
    assert model is not None
    assert model.name == name


def test_of_two_models_the_better_one_is_found(home: Path) -> None:
    ship(home, "qbf", "qbf", 3, 4, accuracy=0.9)
    ship(home, "qbf3", "qbf", 3, accuracy=0.95)
    assert [model.name for size in (2, 3, 4, 5) if (model := find("qbf", size))] == ["qbf3", "qbf3", "qbf", "qbf"]


@pytest.mark.usefixtures("home")
def test_a_task_may_have_no_model() -> None:
    assert find("qbf", 3) is None


def test_a_model_is_loaded_by_its_name(home: Path) -> None:
    assert locate("sat") == home / "sat"
    assert pencil.load("sat").checkpoint.sizes == (3, 4)


def test_a_checkpoint_of_ones_own_comes_first(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("sat").mkdir()
    assert locate("sat") == home / "sat"  # a folder, but no checkpoint
    ship(tmp_path, "sat", "sat", 5)
    assert locate("sat") == Path("sat")
    ship(tmp_path / "run", "model", "sat", 6)
    assert locate("run") == Path("run/model")


@pytest.mark.usefixtures("home")
def test_an_unknown_name_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="models that ship: einstein3, einstein5, sat"):
        pencil.load("qbf")
    with pytest.raises(CheckpointError, match=r"found no config\.json"):
        pencil.load(tmp_path)


def test_a_damaged_model_is_said_so(home: Path) -> None:
    (home / "sat" / "config.json").write_text(json.dumps({"sizes": [3]}))
    with pytest.raises(CheckpointError, match="install again"):
        bundled()


@pytest.mark.parametrize("model", bundled(), ids=lambda model: model.name)
def test_what_ships_is_small_measured_and_has_its_card(model: Bundled) -> None:
    assert (model.directory / "model.safetensors").stat().st_size < 8_000_000
    reports = model.facts["evaluation"]
    assert [report["size"] for report in reports] == list(model.sizes)
    assert min(report["count"] for report in reports) >= 100
    assert model.card == card(model.name, read(model.directory), model.facts)


REAL = bundled()
SURE = [model for model in REAL if all(report["accuracy"] == 1 for report in model.facts["evaluation"])]
LONG = 10_000
"""Tokens that a model thinks of a problem, with which 20 of them take minutes."""


def first_card(model: Bundled) -> dict[str, Any]:
    """What its card says of the smallest size."""
    card: dict[str, Any] = model.facts["evaluation"][0]
    return card


@pytest.mark.parametrize(
    "model",
    [
        pytest.param(model, id=model.name, marks=[pytest.mark.slow] * (first_card(model)["tokens"] > LONG))
        for model in REAL
    ],
)
def test_what_ships_solves_what_it_has_never_seen(model: Bundled) -> None:
    checkpoint = read(model.directory)
    task = get_task(model.task, model.sizes[0])
    report, _ = evaluate(checkpoint.model, checkpoint.vocab, task, count=20, seed=1)
    card = first_card(model)
    assert report.accuracy >= (1.0 if card["accuracy"] == 1 else card["accuracy"] - 0.1)
    assert report.trace_rate > card["trace_rate"] - 0.1


@pytest.mark.parametrize("model", SURE, ids=[model.name for model in SURE])
def test_what_is_always_right_says_the_same_in_8_bits(model: Bundled) -> None:
    checkpoint = read(model.directory)
    task, vocab = get_task(model.task, model.sizes[0]), checkpoint.vocab
    prompts = [vocab.encode(task.prompt(task.draw(5, index))) for index in range(20)]
    exact, rounded = (
        [(stopped.context, stopped.generated) for stopped in Engine(kind, vocab.marks, end=vocab.end).run(prompts)]
        for kind in (checkpoint.model, to_int8(checkpoint.model))
    )
    assert rounded == exact
