import json
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

import pencil
from experiments import ship
from experiments.cost import training_cost
from pencil.errors import CheckpointError
from pencil.model.checkpoint import read
from pencil.model.config import ModelConfig
from pencil.model.pretrained import bundled
from pencil.train.loop import Hooks, Machine, train
from tests.train.examples import small_recipe


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("runs") / "small"
    train(small_recipe(steps=4), out, Machine(workers=0), Hooks())
    return out


def test_a_run_becomes_a_model_with_a_card(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("pencil.model.pretrained.HOME", tmp_path)
    command = ["ship", str(run), "mine", "--count", "3", "--home", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", [*command, "--remark", "Stopped twice."])
    for _ in range(2):  # the second time, it replaces itself
        ship.main()
    [model] = bundled()
    [report] = model.facts["evaluation"]
    assert (model.name, report["size"], report["count"]) == ("mine", 2, 3)
    assert capsys.readouterr().out.endswith(model.card + "\n")
    assert f"| 2 | 3 | {report['accuracy']:.1%} |" in model.card
    assert "\nStopped twice.\n" in model.card
    assert model.card.count("4 steps, 8 instances") == 1
    weights = load_file(model.directory / "model.safetensors")
    assert {weight.dtype for weight in weights.values()} == {torch.float16}
    assert pencil.load("mine").checkpoint.metrics == model.facts


def test_a_card_tells_what_the_model_it_started_with_had_taken(run: Path, tmp_path: Path) -> None:
    recipe = small_recipe(steps=2, start=str(run))
    train(recipe, tmp_path / "second", Machine(workers=0), Hooks())
    assert [cost["steps"] for cost in ship.runs_up_to(tmp_path / "second")] == [4, 2]
    ship.ship(tmp_path / "second", tmp_path / "shipped", count=1, seed=0)
    recipe = small_recipe(steps=3, start=str(tmp_path / "shipped"))
    train(recipe, tmp_path / "third", Machine(workers=0), Hooks())
    for _ in range(2):  # the second time, it has replaced the model that it started with
        assert [cost["steps"] for cost in ship.runs_up_to(tmp_path / "third")] == [4, 2, 3]
        ship.ship(tmp_path / "third", tmp_path / "shipped", count=1, seed=0)


def test_a_card_says_what_a_word_knows_and_sees() -> None:
    config = ModelConfig(9, n_layers=1, d_model=4, n_heads=1, levels=2, frames=2, outermost=True)
    assert ship._surroundings(config) == (
        "; each word knows how many calls are open (modulo 2)"
        "; its attention reaches 2 frames up the stack of calls and the outermost one"
    )


def test_what_is_measured_is_what_ships(run: Path) -> None:
    checkpoint = ship.as_shipped(read(run / "model"))
    assert all(torch.equal(weight, weight.half().float()) for weight in checkpoint.model.parameters())


def test_the_cost_follows_from_the_journal(run: Path) -> None:
    cost = training_cost(run)
    entries = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    [speed] = [entry["tokens_per_second"] for entry in entries if "tokens_per_second" in entry]
    assert (cost.steps, cost.instances) == (4, 8)
    assert cost.hours == pytest.approx(cost.tokens / speed / 3600)
    assert cost.recipe == small_recipe(steps=4).to_json()


def test_what_is_no_run_is_said_so(run: Path, tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="expected a run of"):
        training_cost(run / "model")
    (tmp_path / "run.json").write_text("{}")
    (tmp_path / "metrics.jsonl").write_text("")
    with pytest.raises(CheckpointError, match="no step in its journal"):
        training_cost(tmp_path)


def test_what_cannot_ship_is_said_in_a_line(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["ship", str(run / "model"), "mine", "--home", str(tmp_path)])
    with pytest.raises(SystemExit) as stopped:
        ship.main()
    assert stopped.value.code == 2
    assert "expected a run of `pencil train`" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
