import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from pencil.errors import CheckpointError, ConfigError, PencilError
from pencil.model import checkpoint
from pencil.model.config import ModelConfig
from pencil.tasks import get_task
from pencil.train.claim import read_recipe
from pencil.train.config import DataConfig, Recipe, TrainConfig
from pencil.train.loop import CALIBRATION, Hooks, Machine, Trainer, interrupts, train
from pencil.train.loss import Loss
from pencil.train.meter import Report
from pencil.train.optim import learning_rate
from pencil.train.state import saved_states
from tests.train.examples import small_recipe

HERE = Machine(workers=0)
QUIET = Hooks(say=lambda text: None)


def run(recipe: Recipe, out: Path, *, resume: bool = False, hooks: Hooks = QUIET) -> Trainer:
    return train(recipe, out, HERE, hooks, resume=resume)


def assert_same_weights(one: Trainer, other: Trainer) -> None:
    for name, weight in one.model.state_dict().items():
        assert torch.equal(weight, other.model.state_dict()[name]), name


def interrupt_after(step: int, number: int = signal.SIGINT) -> Callable[[Report], None]:
    def report(report: Report) -> None:
        if report.step == step:
            os.kill(os.getpid(), number)

    return report


def lines(out: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]


GOLDEN = [4.036, 3.792, 3.080]
"""Losses after 1, 4 and 20 steps; a change here means that training itself has changed."""


def test_losses_are_as_they_were(tmp_path: Path) -> None:
    losses: dict[int, float] = {}

    def note(report: Report) -> None:
        losses[report.step] = report.loss

    run(small_recipe(steps=20), tmp_path, hooks=Hooks(report=note))
    assert [losses[step] for step in (1, 4, 20)] == pytest.approx(GOLDEN, abs=0.02)  # rounding differs between machines


def test_the_loss_falls(tmp_path: Path) -> None:
    losses: list[float] = []
    run(small_recipe(steps=60), tmp_path, hooks=Hooks(report=lambda report: losses.append(report.loss)))
    assert losses[-1] < 0.75 * losses[0]


def test_a_run_may_start_with_the_weights_of_another(tmp_path: Path) -> None:
    first = run(small_recipe(steps=4), tmp_path / "first")
    plain = small_recipe(steps=2)
    recipe = replace(plain, train=replace(plain.train, start=str(first.out)))
    whole = run(recipe, tmp_path / "whole")
    assert not torch.equal(whole.model.embedding.weight, run(plain, tmp_path / "random").model.embedding.weight)
    with pytest.raises(MemoryError):
        run(recipe, tmp_path / "killed", hooks=Hooks(report=out_of_memory))  # before anything is saved
    assert_same_weights(whole, run(recipe, tmp_path / "killed", resume=True))


def out_of_memory(report: Report) -> None:
    raise MemoryError


def test_a_run_starts_with_a_model_of_its_own_shape(tmp_path: Path) -> None:
    recipe = small_recipe(steps=1)
    run(recipe, tmp_path / "first")
    wider = replace(
        recipe,
        model=replace(recipe.model, d_model=32),
        train=replace(recipe.train, start=str(tmp_path / "first")),
    )
    with pytest.raises(ConfigError, match=r"d_model=16, .* expected one for qbf, .* d_model=32"):
        run(wider, tmp_path / "wider")
    assert not (tmp_path / "wider").exists()
    nearer = replace(wider, model=replace(recipe.model, frames=1))  # which is no matter of weights
    assert run(nearer, tmp_path / "nearer").done
    deeper = replace(wider, model=replace(recipe.model, n_layers=recipe.model.n_layers + 1))  # it grows
    assert run(deeper, tmp_path / "deeper").done
    levels = replace(recipe, model=replace(recipe.model, levels=2))
    run(levels, tmp_path / "levels")
    wrapped = replace(
        levels, model=replace(levels.model, frames=1), train=replace(recipe.train, start=str(tmp_path / "levels"))
    )
    with pytest.raises(
        ConfigError, match=r"frames=0, .* expected one for qbf, .* frames=1"
    ):  # levels mean something else
        run(wrapped, tmp_path / "wrapped")
    outer = replace(wrapped, model=replace(levels.model, outermost=True))
    assert run(outer, tmp_path / "outer").done


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("around", [0, 3])
def test_stopping_and_resuming_gives_the_same_weights(tmp_path: Path, number: int, around: int) -> None:
    recipe = small_recipe(steps=8)
    recipe = replace(recipe, model=replace(recipe.model, recent=around, levels=around))
    whole = run(recipe, tmp_path / "whole")
    stopped = run(recipe, tmp_path / "parts", hooks=Hooks(report=interrupt_after(3, number)))
    assert (stopped.done, stopped.step) == (False, 4)
    resumed = run(recipe, tmp_path / "parts", resume=True)
    assert resumed.done
    assert_same_weights(whole, resumed)


def test_a_finished_run_says_so_and_is_not_evaluated_again(tmp_path: Path) -> None:
    evaluated: list[int] = []
    said: list[str] = []

    def evaluate(model: object) -> dict[str, Any]:
        evaluated.append(1)
        return {}

    hooks = Hooks(evaluate=evaluate, say=said.append)
    done = run(small_recipe(steps=3), tmp_path, hooks=hooks)
    again = run(small_recipe(steps=3), tmp_path, resume=True, hooks=hooks)
    assert again.done
    assert len(evaluated) == 1
    assert "has done all of its 3 steps; lengthen it with more --steps" in said[0]
    assert_same_weights(done, again)


def test_a_run_stopped_before_its_last_evaluation_makes_up_for_it(tmp_path: Path) -> None:
    def fail(model: object) -> dict[str, Any]:
        raise MemoryError

    with pytest.raises(MemoryError):
        run(small_recipe(steps=3), tmp_path, hooks=Hooks(evaluate=fail))
    run(small_recipe(steps=3), tmp_path, resume=True, hooks=Hooks(evaluate=lambda model: {"accuracy": 0.5}))
    assert checkpoint.read(tmp_path / "model").metrics == {"step": 3, "accuracy": 0.5}


def test_a_longer_run_goes_on_at_the_rates_of_its_new_length(tmp_path: Path) -> None:
    rates: dict[int, float] = {}

    def note(report: Report) -> None:
        rates[report.step] = report.rate

    run(small_recipe(steps=4), tmp_path, hooks=Hooks(report=note))
    longer = small_recipe(steps=8)
    trainer = run(longer, tmp_path, resume=True, hooks=Hooks(report=note))
    assert (trainer.step, trainer.steps) == (8, 8)
    assert rates[5] == learning_rate(longer.train, 5, 8) > rates[4]
    assert read_recipe(tmp_path) == longer
    assert [line["step"] for line in lines(tmp_path) if "loss" in line] == [4, 8]


def test_hints_fade_away_over_the_last_steps(tmp_path: Path) -> None:
    trainer = run(small_recipe(steps=4, hints_fade=0.5), tmp_path)
    [batch] = trainer.data[0]
    losses = []
    for trainer.step in range(5):
        losses.append(trainer._loss(batch).hints.item())
    assert losses == pytest.approx([losses[0] * weight for weight in (1, 1, 1, 0.5, 0)])
    assert losses[0] > 0


def test_a_run_is_not_made_shorter_than_it_is(tmp_path: Path) -> None:
    run(small_recipe(steps=4), tmp_path)
    with pytest.raises(ConfigError, match="asked for 2 steps, but the run has done 4 already"):
        run(small_recipe(steps=2), tmp_path, resume=True)
    assert read_recipe(tmp_path) == small_recipe(steps=4)


def test_threads_that_share_a_batch_learn_what_one_does(tmp_path: Path) -> None:
    whole = run(small_recipe(steps=5), tmp_path / "one")
    shared = train(small_recipe(steps=5), tmp_path / "two", Machine(workers=0, threads=2), QUIET)
    torch.set_num_threads(1)
    assert len(shared.data[0]) == 2
    for name, weight in whole.model.state_dict().items():
        assert torch.allclose(weight, shared.model.state_dict()[name], atol=2e-4), name  # they moved by about 0.01


def test_a_killed_run_goes_on_from_its_last_saved_state(tmp_path: Path) -> None:
    recipe = small_recipe(steps=8, save_every=3)

    def die(report: Report) -> None:
        if report.step == 5:
            raise MemoryError

    with pytest.raises(MemoryError):
        run(recipe, tmp_path / "killed", hooks=Hooks(report=die))
    assert saved_states(tmp_path / "killed" / "state")[0].stem == "000000003"
    assert_same_weights(run(recipe, tmp_path / "whole"), run(recipe, tmp_path / "killed", resume=True))


def test_a_broken_latest_state_costs_only_the_time_since_the_one_before(tmp_path: Path) -> None:
    recipe = small_recipe(steps=8, save_every=2)
    stopped = run(recipe, tmp_path / "run", hooks=Hooks(report=interrupt_after(4)))
    saved_states(tmp_path / "run" / "state")[0].write_bytes(b"broken")
    warnings: list[str] = []
    resumed = run(recipe, tmp_path / "run", resume=True, hooks=Hooks(say=warnings.append))
    assert stopped.step == 5
    assert "is broken" in warnings[0]
    assert_same_weights(run(recipe, tmp_path / "whole"), resumed)


def test_a_disk_that_fills_up_is_one_clear_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: Any, **options: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pencil.train.loop.checkpoint.save", fail)
    with pytest.raises(CheckpointError, match=r"the model was not saved: .*No space left"):
        run(small_recipe(steps=2), tmp_path)
    assert saved_states(tmp_path / "state")[0].stem == "000000002"


def test_the_checkpoint_holds_the_trained_model_and_its_metrics(tmp_path: Path) -> None:
    trainer = run(small_recipe(steps=2), tmp_path, hooks=Hooks(evaluate=lambda model: {"accuracy": 0.25}))
    found = checkpoint.read(tmp_path / "model")
    assert (found.task, found.sizes, found.format) == ("qbf", (2,), "pencil")
    assert found.metrics == {"step": 2, "accuracy": 0.25}
    for name, weight in trainer.model.state_dict().items():
        assert torch.equal(weight, found.model.state_dict()[name])


def test_evaluations_come_at_intervals_and_at_the_end(tmp_path: Path) -> None:
    run(small_recipe(steps=5, evaluate_every=2), tmp_path, hooks=Hooks(evaluate=lambda model: {"accuracy": 1.0}))
    assert [line["step"] for line in lines(tmp_path) if "accuracy" in line and "loss" not in line] == [2, 4, 5]


def test_resuming_does_not_write_metrics_twice(tmp_path: Path) -> None:
    recipe = small_recipe(steps=6, evaluate_every=1)
    run(recipe, tmp_path, hooks=Hooks(report=interrupt_after(3), evaluate=lambda model: {"seen": 1}))
    run(recipe, tmp_path, resume=True, hooks=Hooks(evaluate=lambda model: {"seen": 1}))
    steps = [line["step"] for line in lines(tmp_path) if "seen" in line]
    assert steps == sorted(set(steps))
    assert steps[-1] == 6


def test_minutes_become_steps_that_resuming_keeps(tmp_path: Path) -> None:
    recipe = small_recipe(minutes=0.05)
    stopped = run(recipe, tmp_path, hooks=Hooks(report=interrupt_after(CALIBRATION)))
    resumed = run(recipe, tmp_path, resume=True)
    assert stopped.steps is not None
    assert stopped.steps > CALIBRATION
    assert resumed.step == resumed.steps == stopped.steps


@pytest.mark.parametrize("format", ["cot", "direct"])
def test_the_other_formats_train_by_the_same_loop(tmp_path: Path, format: Any) -> None:
    recipe = small_recipe(steps=2)
    trainer = run(replace(recipe, data=replace(recipe.data, format=format)), tmp_path)
    assert checkpoint.read(tmp_path / "model").format == format
    assert trainer.done


def test_a_loss_that_is_not_finite_stops_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Loss, "total", property(lambda loss: loss[0] * float("nan")))
    with pytest.raises(PencilError, match="the loss of step 1 is nan; try a smaller learning rate"):
        run(small_recipe(steps=2), tmp_path)


def test_bf16_learns_about_the_same(tmp_path: Path) -> None:
    rounded = train(small_recipe(steps=2), tmp_path / "bf16", Machine(workers=0, bf16=True), QUIET)
    exact = run(small_recipe(steps=2), tmp_path / "exact").model.state_dict()
    for name, weight in rounded.model.state_dict().items():
        assert weight.dtype == torch.float32
        assert (weight - exact[name]).norm() < 0.1 * exact[name].norm(), name
    assert not rounded.model.embedding.weight.equal(exact["embedding.weight"])


def test_bf16_with_two_hands_resumes_exactly(tmp_path: Path) -> None:
    machine = Machine(workers=0, threads=2, bf16=True)
    recipe = Recipe(
        DataConfig("einstein", {3: 1.0}, batch=2, stretch=200, window=1_024),
        ModelConfig(len(get_task("einstein", 3).vocab), n_layers=2, d_model=16, n_heads=4, context=1_024, recent=2),
        TrainConfig(steps=4, warmup=2),
    )
    whole = train(recipe, tmp_path / "whole", machine, QUIET)
    hooks = replace(QUIET, report=interrupt_after(2))
    assert not train(recipe, tmp_path / "parts", machine, hooks).done
    assert_same_weights(train(recipe, tmp_path / "parts", machine, QUIET, resume=True), whole)


def test_compiled_blocks_learn_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compile = nn.Module.compile
    monkeypatch.setattr(nn.Module, "compile", lambda module, dynamic: compile(module, dynamic=dynamic, backend="eager"))
    compiled = train(small_recipe(steps=3), tmp_path / "compiled", Machine(workers=0, compile=True), QUIET)
    plain = run(small_recipe(steps=3), tmp_path / "plain")
    for name, weight in plain.model.state_dict().items():
        assert torch.allclose(weight, compiled.model.state_dict()[name], atol=1e-5), name


def test_a_second_interrupt_does_not_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    with interrupts() as received:
        for _ in range(2):  # the same one twice at once is one
            os.kill(os.getpid(), signal.SIGINT)
        assert len(received) == 2
        monkeypatch.setattr("pencil.train.loop.IMPATIENCE", 0)
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)


PART_OF_A_WORLD = """
import sys
from pathlib import Path
import torch
from pencil.train.loop import Hooks, Machine, train
from tests.train.examples import small_recipe
torch.set_num_threads(1)
train(small_recipe(steps=5), Path(sys.argv[1]), Machine(workers=0), Hooks(say=lambda text: None))
"""


@pytest.mark.slow
def test_two_processes_learn_what_one_does(tmp_path: Path) -> None:
    (tmp_path / "part.py").write_text(PART_OF_A_WORLD)
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2]), "OMP_NUM_THREADS": "1"}
    subprocess.run([*command, str(tmp_path / "part.py"), str(tmp_path / "two")], check=True, env=environment)
    one = run(small_recipe(steps=5), tmp_path / "one")
    two = checkpoint.read(tmp_path / "two" / "model").model.state_dict()
    for name, weight in one.model.state_dict().items():
        largest: Tensor = (weight - two[name]).abs().max()
        assert largest < 2e-4, name  # the weights have moved by about 0.01
    assert lines(tmp_path / "two")[0]["loss"] == pytest.approx(lines(tmp_path / "one")[0]["loss"], rel=1e-4)
