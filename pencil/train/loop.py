"""The loop: batch, loss, gradient, step; stopped at any step and resumed, it gives the weights of a run never stopped.

A run's directory holds `run.json` (the recipe), `metrics.jsonl`, `state/` (to go on from) and `model/` (a checkpoint).
"""

import json
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from torch import Tensor, nn

from pencil.errors import CheckpointError, ConfigError, PencilError
from pencil.model import checkpoint
from pencil.model.pretrained import locate
from pencil.model.transformer import Transformer
from pencil.train.batch import Batch
from pencil.train.bf16 import in_bf16
from pencil.train.claim import claim, require_same, write_recipe
from pencil.train.config import Recipe
from pencil.train.data import Data
from pencil.train.grow import grow
from pencil.train.hands import Hands
from pencil.train.journal import Journal
from pencil.train.loss import Loss, PackedLoss
from pencil.train.memory import keep_freed_memory
from pencil.train.meter import Meter, Report, StepResult, Stopwatch
from pencil.train.optim import Optimizers, hint_weight, learning_rate, scale_additions
from pencil.train.state import State, read_state, saved_states, write_state
from pencil.train.world import World

CALIBRATION = 20
"""Steps whose median speed decides how many fit into the minutes given."""
LOG_EVERY = 50
IMPATIENCE = 1.0
"""Seconds after which a second signal is a person's wish; `torchrun` and a terminal may send the same one twice."""

Evaluate = Callable[[Transformer], dict[str, Any]]
"""Called with the model at intervals and at the end; what it returns is logged and kept with the checkpoint."""


@dataclass(frozen=True)
class Machine:
    """What to compute on; nothing here changes what is learned, but for rounding."""

    device: str = "cpu"
    workers: int = 1
    """Processes that draw instances ahead of the step; with 0 it happens in between.

    They are spawned, so a script that trains needs `if __name__ == "__main__":`.
    """
    threads: int | None = None
    """Of the CPU, or as many as torch would take; each computes the gradient of a share of the batch."""
    bf16: bool = False
    """Products in bfloat16, those of Muon too; weights, moments and sums stay in float32."""
    native: bool = True
    """What is fastest on this CPU: attention compiled for it, if there is a compiler, and oneDNN's products where they
    are faster; otherwise torch's own ways. What `compile` compiles is left to torch."""
    compile: bool = False


@dataclass(frozen=True)
class Hooks:
    """What a run calls back."""

    evaluate: Evaluate = lambda model: {}
    report: Callable[[Report], None] = lambda report: None
    say: Callable[[str], None] = print


class Trainer:
    """One run in one process; under `torchrun`, one of many that work on the same run."""

    def __init__(self, recipe: Recipe, out: Path, machine: Machine, hooks: Hooks, world: World) -> None:
        self.recipe, self.out, self.machine, self.hooks, self.world = recipe, out, machine, hooks, world
        if recipe.data.batch < world.size:
            raise ConfigError(f"{world.size} processes cannot share a batch of {recipe.data.batch}; try fewer")
        threads = machine.threads or torch.get_num_threads()
        shares = min(threads, recipe.data.batch) if self._on_one_cpu else 1
        model = recipe.model
        self.data = Data(recipe.data, world.rank, world.size, shares, model.frames, model.outermost, model.n_layers)
        self.hands = Hands(shares, threads)
        self.model = Transformer(recipe.model, seed=recipe.train.seed).to(self.world.device)
        scale_additions(self.model, recipe.train.additions)
        self.loss = self._wrap(PackedLoss(self.model, machine.native and not machine.compile))
        self.optimizers = Optimizers(self.model, recipe.train, self.hands, machine.bf16)
        self.meter = Meter(self.data.vocab)
        self.journal = Journal(out / "metrics.jsonl")
        self.metrics: dict[str, Any] = {}
        self.step = 0
        self.steps = recipe.train.steps if recipe.train.minutes is None else None
        self.seconds: list[float] = []  # of the steps so far, while their number is being measured

    @property
    def _on_one_cpu(self) -> bool:
        """Where threads can share a batch; what compiles or gathers gradients wants it whole."""
        return self.world.size == 1 and self.world.device.type == "cpu" and not self.machine.compile

    def _wrap(self, loss: PackedLoss) -> nn.Module:
        if self.machine.compile:
            for block in self.model.blocks:
                block.compile(dynamic=True)
        return self.world.share_gradients(loss)

    def run(self) -> None:
        """Learn until all steps are done, or until interrupted."""
        steps = self.data.batches(self.step, self.machine.workers)
        with interrupts() as received:
            while not self.done:
                stop = self._advance(steps, bool(received))
                self._report()
                if stop or self.done or self.step % self.recipe.train.save_every == 0:
                    self.save()
                if stop:
                    return
                every = self.recipe.train.evaluate_every
                if every and self.step % every == 0 and not self.done:
                    self._evaluate()
        self._evaluate()
        self._save_model()

    @property
    def done(self) -> bool:
        """Whether all steps are done."""
        return self.steps is not None and self.step >= self.steps

    def _advance(self, steps: Iterator[list[Batch]], stop: bool) -> bool:
        """One step; whether any process was asked to stop after it."""
        watch = Stopwatch()
        batches = next(steps)
        waited = watch.lap()
        losses = self.hands.add_gradients(self._loss, list(self.model.parameters()), batches)
        wrong = [loss.wrong.cpu().numpy() for loss in losses]
        local = (
            sum(loss.total.item() for loss in losses),
            sum(some.sum() for some in wrong),
            sum(len(batch.targets) for batch in batches),
            sum(batch.packed for batch in batches),
            stop,
        )
        total, wrongs, targets, packed, stops = self.world.sum(local)
        self._move(total, targets)
        result = StepResult(total, int(wrongs), int(targets), int(packed), waited + watch.lap(), waited)
        self.meter.add(result, batches, wrong)
        self._measure(result.seconds)
        return stops > 0

    def _loss(self, batch: Batch) -> Loss:
        with in_bf16(self.world.device.type) if self.machine.bf16 else nullcontext():
            loss: Loss = self.loss(batch)
        return loss._replace(hints=loss.hints * hint_weight(self.recipe.train, self.step, self.steps))

    def _move(self, total: float, targets: float) -> None:
        """Change the weights by the gradient of the mean loss; processes have averaged the gradients of their sums."""
        if not total < float("inf"):
            raise PencilError(f"the loss of step {self.step + 1} is {total}; try a smaller learning rate")
        weights = list(self.model.parameters())
        torch._foreach_mul_([weight.grad for weight in weights if weight.grad is not None], self.world.size / targets)
        nn.utils.clip_grad_norm_(weights, self.recipe.train.clip)
        self.optimizers.step(self.rate)
        self.model.zero_grad()
        self.step += 1

    @property
    def rate(self) -> float:
        """The learning rate of the next step."""
        return learning_rate(self.recipe.train, self.step, self.steps)

    def _measure(self, seconds: float) -> None:
        """After the first few steps, fix how many fit into the minutes given."""
        if self.steps is not None or self.recipe.train.minutes is None:
            return
        self.seconds.append(seconds)
        if self.step >= CALIBRATION:
            typical = sorted(self.seconds)[len(self.seconds) // 2]
            left = 60 * self.recipe.train.minutes - sum(self.seconds)
            [fitting] = self.world.sum([max(1, left / typical)])
            self.steps = self.step + round(fitting / self.world.size)

    def _report(self) -> None:
        if not self.world.leads:
            return
        report = self.meter.report(self.step, self.steps, self.rate)
        self.hooks.report(report)
        if self.step % LOG_EVERY == 0 or self.done:
            self.journal.write(report.as_dict() | {"worst": self.meter.worst_kinds()})

    def _evaluate(self) -> None:
        if self.world.leads:
            self.metrics = {"step": self.step} | self.hooks.evaluate(self.model)
            self.journal.write(self.metrics)
        self.world.wait()

    def save(self) -> None:
        """Write the state to go on from, and the model as it is now."""
        if self.world.leads:
            weights, optimizers = self.model.state_dict(), self.optimizers.state()
            write_state(self.out / "state", State(self.step, self.steps, weights, optimizers))
        self._save_model()

    def _save_model(self) -> None:
        if self.world.leads:
            data, words = self.recipe.data, self.data.vocab
            sizes = tuple(sorted(data.sizes))
            model = checkpoint.Checkpoint(self.model, words, data.task, sizes, data.format, self.metrics)
            try:
                checkpoint.save(model, self.out / "model")
            except (OSError, SafetensorError) as error:
                raise CheckpointError(f"{self.out / 'model'}: the model was not saved: {error}") from None
        self.world.wait()

    def restore(self, state: State) -> None:
        """Go on from a state; the rate is then that of a run with as many steps as the recipe now asks for."""
        self.model.load_state_dict(state.weights)
        self.optimizers.restore(state.optimizers)
        self.step = state.step
        if self.recipe.train.minutes is not None:
            self.steps = state.steps
        if self.steps is not None and self.steps < self.step:
            raise ConfigError(f"{self.out}: asked for {self.steps} steps, but the run has done {self.step} already")
        if self.world.leads:
            self.journal.rewind(self.step)
        self.metrics = _metrics_in(self.out / "model")

    @property
    def finished(self) -> bool:
        """Whether all steps are done and the model was evaluated after the last one."""
        return self.done and self.metrics.get("step") == self.step


def train(recipe: Recipe, out: Path, machine: Machine, hooks: Hooks, *, resume: bool = False) -> Trainer:
    """Start a run, or go on with one, if need be to another number of steps; it is `done` unless it was interrupted."""
    start = _weights_of(recipe) if recipe.train.start and not saved_states(out / "state") else None
    keep_freed_memory()
    world = World.join(machine.device)
    try:
        if world.leads:
            require_same(out, recipe) if resume else claim(out, recipe)
        world.wait()
        trainer = Trainer(recipe, out, machine, hooks, world)
        if start is not None:
            trainer.model.load_state_dict(start)
        if resume:
            _go_on(trainer)
        if not trainer.finished:
            trainer.run()
    finally:
        world.leave()
    return trainer


def _weights_of(recipe: Recipe) -> dict[str, Tensor]:
    """Those of the model that a run starts with; they fit only one of the same sizes, for words of the same task.

    How much of a sequence is seen is no matter of weights, but for levels, which frames have counted another way. A
    model with fewer layers grows.
    """
    start = checkpoint.read(locate(recipe.train.start))
    found, expected = (start.task, start.model.config), (recipe.data.task, recipe.model)
    frames = start.model.config.frames if recipe.model.levels else recipe.model.frames
    free: dict[str, Any] = {"context": recipe.model.context, "frames": frames, "outermost": recipe.model.outermost}
    if start.model.config.n_layers < recipe.model.n_layers:
        free["n_layers"] = recipe.model.n_layers
    if (found[0], replace(found[1], **free)) != expected:
        raise ConfigError("found a model for {} to start with, {}; expected one for {}, {}".format(*found, *expected))
    return grow(start.model, recipe.model.n_layers, recipe.train.seed).state_dict()


def _go_on(trainer: Trainer) -> None:
    """Put a run back to where it was saved."""
    state = read_state(trainer.out / "state", trainer.hooks.say)
    if state is not None:
        trainer.restore(state)
    if trainer.world.leads:
        write_recipe(trainer.out, trainer.recipe)
    if trainer.finished:
        trainer.hooks.say(f"{trainer.out} has done all of its {trainer.steps} steps; lengthen it with more --steps")


def _metrics_in(directory: Path) -> dict[str, Any]:
    """What a model's last evaluation found, if there was one."""
    try:
        found: dict[str, Any] = json.loads((directory / "metrics.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found


@contextmanager
def interrupts() -> Iterator[list[float]]:
    """When signals asked to stop so far, Ctrl-C or SIGTERM; a second one does not wait for the end of a step."""
    received: list[float] = []

    def note(number: int, frame: object) -> None:
        received.append(time.monotonic())
        if received[-1] - received[0] > IMPATIENCE:
            raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():  # only the main thread gets signals
        yield received
        return
    before = {number: signal.signal(number, note) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield received
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
