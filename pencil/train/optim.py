"""Muon for matrices, AdamW for the rest, and the schedules of the rate and of the hints.

Muon moves a matrix by its gradient with all singular values set to one (Jordan et al., 2024). The steps that do so run
on stacks of equal shape, in float32 unless bfloat16 is asked for: in that they cost more than the gradient on a CPU
without instructions for it.
"""

from collections.abc import Iterable, Iterator
from functools import partial
from itertools import groupby
from math import ceil, cos, pi
from typing import Any

import torch
from torch import Tensor
from torch.optim import AdamW, Optimizer

from pencil.model.transformer import TABLES, Transformer
from pencil.train.config import TrainConfig
from pencil.train.hands import Hands

NEWTON_SCHULZ = (3.4445, -4.7750, 2.0315)
"""Coefficients of the quintic step; they push singular values to about 1 in five steps."""
NEWTON_SCHULZ_STEPS = 5
ADDING = ("out", "down")
"""The matrices of a layer whose products are added to the stream."""
MATCHES_ADAMW = 0.2
"""Root mean square of an AdamW update, to which Muon's are scaled, so that both share one rate."""


def learning_rate(config: TrainConfig, step: int, steps: int | None) -> float:
    """The rate of a step that counts from 0: a linear rise, then a fall to nothing at the end of `steps`."""
    if step < config.warmup:
        return config.learning_rate * (step + 1) / config.warmup
    if steps is None:
        return config.learning_rate
    done = min(1.0, (step - config.warmup) / max(1, steps - config.warmup))
    return config.learning_rate * (1 - done if config.fall == "line" else (1 + cos(pi * done)) / 2)


def hint_weight(config: TrainConfig, step: int, steps: int | None) -> float:
    """How much hints count in a step that counts from 0: all, until over the last share of `steps` they fade away."""
    if steps is None or not config.hints_fade:
        return 1.0
    return min(1.0, (steps - step) / (steps * config.hints_fade))


@torch.no_grad()
def scale_additions(model: Transformer, factor: float) -> None:
    """Make what layers add to the stream smaller or larger, before anything is learned."""
    for name, parameter in model.named_parameters():
        if name.removesuffix(".weight").endswith(ADDING):
            parameter.mul_(factor)


class Muon(Optimizer):
    """Momentum, orthogonalised; a group with `parts` holds matrices that are as many stacked upon each other.

    The `pace` of a group is how fast it moves against the others.
    """

    def __init__(
        self,
        groups: Iterable[dict[str, Any]],
        lr: float,
        momentum: float = 0.95,
        weight_decay: float = 0.0,
        hands: Hands | None = None,
        bf16: bool = False,
    ):
        super().__init__(groups, {"lr": lr, "momentum": momentum, "weight_decay": weight_decay, "parts": 1, "pace": 1})
        self.hands = hands
        self.bf16 = bf16

    def step(self, closure: None = None) -> None:  # type: ignore[override]
        """Move every matrix, those of equal shape together, or as many of them at once as each hand gets."""
        moves = [partial(self._move, some, group) for group in self.param_groups for some in self._stacks(group)]
        if self.hands is not None:
            self.hands.share(moves)
        else:
            for move in moves:
                move()

    def _stacks(self, group: dict[str, Any]) -> Iterator[list[Tensor]]:
        """Matrices of equal shape; with hands, about as many stacks of each shape."""
        by_shape = sorted(group["params"], key=lambda parameter: tuple(parameter.shape))
        for _, same_shape in groupby(by_shape, key=lambda parameter: parameter.shape):
            matrices = list(same_shape)
            length = ceil(len(matrices) / (self.hands.count if self.hands else 1))
            yield from (matrices[at : at + length] for at in range(0, len(matrices), length))

    @torch.no_grad()
    def _move(self, matrices: list[Tensor], group: dict[str, Any]) -> None:
        velocities = [self._velocity(matrix) for matrix in matrices]
        gradients: list[Tensor] = [matrix.grad for matrix in matrices if matrix.grad is not None]
        torch._foreach_lerp_(velocities, gradients, 1 - group["momentum"])
        ahead = torch.stack([torch.lerp(g, v, group["momentum"]) for g, v in zip(gradients, velocities, strict=True)])
        rows, columns = matrices[0].shape[0] // group["parts"], matrices[0].shape[1]
        directions = orthogonalise((ahead.bfloat16() if self.bf16 else ahead).view(-1, rows, columns))
        updates = directions.to(ahead).view_as(ahead)
        torch._foreach_mul_(matrices, 1 - group["lr"] * group["weight_decay"])
        scale = MATCHES_ADAMW * max(rows, columns) ** 0.5 * group["pace"]
        torch._foreach_add_(matrices, list(updates.unbind()), alpha=-group["lr"] * scale)

    def _velocity(self, matrix: Tensor) -> Tensor:
        state = self.state[matrix]
        if not state:
            state["velocity"] = torch.zeros_like(matrix)
        velocity: Tensor = state["velocity"]
        return velocity


def orthogonalise(matrices: Tensor) -> Tensor:
    """(n, R, C): each matrix with its singular values set to about 1, by Newton-Schulz steps."""
    tall = matrices.shape[-2] > matrices.shape[-1]
    x = matrices.mT if tall else matrices
    x = x / (x.norm(dim=(-2, -1), keepdim=True) + 1e-7)
    a, b, c = NEWTON_SCHULZ
    for _ in range(NEWTON_SCHULZ_STEPS):
        gram = x @ x.mT
        x = torch.baddbmm(x, torch.baddbmm(gram, gram, gram, beta=b, alpha=c), x, beta=a)
    return x.mT if tall else x


class Optimizers:
    """All that moves the weights: one optimiser, or two for different weights."""

    def __init__(self, model: Transformer, config: TrainConfig, hands: Hands | None = None, bf16: bool = False) -> None:
        self.names = {parameter: name for name, parameter in model.named_parameters()}
        rate, decay = config.learning_rate, config.weight_decay
        matrices = [p for p, name in self.names.items() if p.ndim == 2 and name not in TABLES]
        if config.optimizer == "adamw":
            matrices = []
        rest = [parameter for parameter in self.names if not any(parameter is matrix for matrix in matrices)]

        def ending(*names: str) -> list[Tensor]:
            return [matrix for matrix in matrices if self.names[matrix].removesuffix(".weight").endswith(names)]

        self.parts: list[Optimizer] = [AdamW(rest, lr=rate, betas=(0.9, 0.95), weight_decay=decay)]
        if matrices:
            groups: list[dict[str, Any]] = [
                {"params": ending("up")},
                {"params": ending(*ADDING), "pace": config.additions},
                {"params": ending("qkv"), "parts": 3},
            ]
            self.parts.append(Muon(groups, rate, weight_decay=decay, hands=hands, bf16=bf16))

    def step(self, rate: float) -> None:
        """Move the weights by their gradients, at this rate."""
        for optimizer in self.parts:
            for group in optimizer.param_groups:
                group["lr"] = rate
            optimizer.step()

    def state(self) -> dict[str, Tensor]:
        """Everything that a later step depends on, as `parameter/what`."""
        return {
            f"{name}/{what}": value
            for optimizer in self.parts
            for parameter, name in self.names.items()
            for what, value in optimizer.state.get(parameter, {}).items()
        }

    def restore(self, state: dict[str, Tensor]) -> None:
        """The inverse of `state`."""
        owner = {p: optimizer for optimizer in self.parts for group in optimizer.param_groups for p in group["params"]}
        parameters = {name: parameter for parameter, name in self.names.items()}
        for key, value in state.items():
            name, what = key.rsplit("/", 1)
            parameter = parameters[name]
            owner[parameter].state[parameter][what] = value.clone() if what == "step" else value.to(parameter.device)
