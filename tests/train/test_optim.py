from dataclasses import replace
from itertools import pairwise

import pytest
import torch

from pencil.model.transformer import ModelConfig, Transformer
from pencil.train.config import Fall, OptimizerName, TrainConfig
from pencil.train.hands import Hands
from pencil.train.optim import Muon, Optimizers, hint_weight, learning_rate, orthogonalise, scale_additions

CONFIG = TrainConfig(steps=100, warmup=10, learning_rate=1.0)


@pytest.mark.parametrize(("fall", "after_a_tenth"), [("cosine", 0.9755), ("line", 0.9)])
def test_the_rate_rises_then_falls_to_nothing(fall: Fall, after_a_tenth: float) -> None:
    rates = [learning_rate(replace(CONFIG, fall=fall), step, 100) for step in range(101)]
    assert rates[0] == pytest.approx(0.1)
    assert rates[9] == rates[10] == 1.0
    assert rates[19] == pytest.approx(after_a_tenth, abs=1e-4)
    assert rates[55] == pytest.approx(0.5)
    assert rates[100] == 0
    assert all(later <= earlier for earlier, later in pairwise(rates[10:]))


def test_the_rate_stays_up_while_the_steps_are_not_known() -> None:
    assert learning_rate(CONFIG, 50, None) == 1.0


def test_hints_count_in_full_unless_they_are_to_fade() -> None:
    assert hint_weight(CONFIG, 99, 100) == 1.0
    assert hint_weight(replace(CONFIG, hints_fade=0.5), 99, None) == 1.0


@pytest.mark.parametrize("shape", [(3, 8, 8), (2, 16, 4), (2, 4, 16)])
def test_orthogonalised_matrices_have_singular_values_near_one(shape: tuple[int, ...]) -> None:
    matrices = torch.randn(shape, generator=torch.Generator().manual_seed(0))
    values = torch.linalg.svdvals(orthogonalise(matrices))
    assert values.min() > 0.5
    assert values.max() < 1.3


def test_orthogonalised_matrices_keep_their_singular_directions() -> None:
    matrix = torch.randn(6, 9, generator=torch.Generator().manual_seed(0))
    left, _, right = torch.linalg.svd(matrix, full_matrices=False)
    inside = left.T @ orthogonalise(matrix[None])[0] @ right.T
    assert (inside - inside.diag().diag()).abs().max() < 1e-4


def test_in_bf16_matrices_move_about_the_same_way() -> None:
    moved = []
    for bf16 in (False, True):
        matrix = torch.nn.Parameter(torch.zeros(16, 8))
        matrix.grad = torch.randn(16, 8, generator=torch.Generator().manual_seed(0))
        Muon([{"params": [matrix]}], lr=0.1, bf16=bf16).step()
        assert matrix.dtype == torch.float32
        moved.append(matrix.data)
    assert not moved[0].equal(moved[1])
    torch.testing.assert_close(*moved, atol=0.02 * moved[0].norm().item(), rtol=0)


def test_stacked_matrices_are_moved_as_if_they_were_apart() -> None:
    generator = torch.Generator().manual_seed(0)
    whole = torch.nn.Parameter(torch.zeros(12, 4))
    whole.grad = torch.randn(12, 4, generator=generator)
    apart = [torch.nn.Parameter(torch.zeros(4, 4)) for _ in range(3)]
    for part, gradient in zip(apart, whole.grad.split(4), strict=True):  # type: ignore[no-untyped-call]
        part.grad = gradient.clone()
    Muon([{"params": [whole], "parts": 3}], lr=0.1).step()
    Muon([{"params": apart}], lr=0.1).step()
    torch.testing.assert_close(whole.data, torch.cat([part.data for part in apart]))


@pytest.mark.parametrize("count", [1, 2, 3])
def test_hands_move_the_weights_as_one_would(count: int) -> None:
    moved = []
    for hands in (None, Hands(count, threads=1)):
        generator = torch.Generator().manual_seed(0)
        weights = [torch.nn.Parameter(torch.randn(shape, generator=generator)) for shape in [(4, 8)] * 5 + [(8, 8)]]
        muon = Muon([{"params": weights[:4]}, {"params": weights[4:]}], lr=0.1, hands=hands)
        for _ in range(2):
            for weight in weights:
                weight.grad = torch.randn(weight.shape, generator=generator)
            muon.step()
        moved.append(weights)
    torch.testing.assert_close(*moved)


def test_an_update_of_muon_is_as_large_as_one_of_adamw() -> None:
    weight = torch.nn.Parameter(torch.zeros(64, 64))
    weight.grad = torch.randn(64, 64, generator=torch.Generator().manual_seed(0))
    Muon([{"params": [weight]}], lr=1.0).step()
    assert weight.data.square().mean().sqrt().item() == pytest.approx(0.2, rel=0.2)


def test_what_layers_add_starts_smaller_and_grows_more_slowly() -> None:
    (usual, usually), (gentle, gently) = (make("muon", additions, weight_decay=0.0) for additions in (1.0, 0.25))
    scale_additions(gentle, 0.25)
    for name in ("out", "down"):
        torch.testing.assert_close(weight(gentle, name), weight(usual, name) / 4)
    torch.testing.assert_close(weight(gentle, "up"), weight(usual, "up"))
    before = weight(gentle, "out"), weight(usual, "out")
    for model, optimizers in ((usual, usually), (gentle, gently)):
        for parameter in model.parameters():
            parameter.grad = torch.ones_like(parameter)
        optimizers.step(0.01)
    torch.testing.assert_close(4 * (weight(gentle, "out") - before[0]), weight(usual, "out") - before[1])


def weight(model: Transformer, name: str) -> torch.Tensor:
    found: torch.Tensor = model.state_dict()[f"blocks.1.{name}.weight"]
    return found.clone()


def make(optimizer: OptimizerName, additions: float = 1.0, weight_decay: float = 0.1) -> tuple[Transformer, Optimizers]:
    model = Transformer(ModelConfig(11, n_layers=2, d_model=8, n_heads=2, context=16), seed=1)
    return model, Optimizers(
        model, replace(CONFIG, optimizer=optimizer, additions=additions, weight_decay=weight_decay)
    )


def take_steps(model: Transformer, optimizers: Optimizers, seeds: range) -> None:
    for seed in seeds:
        tokens = torch.randint(0, 11, (2, 9), generator=torch.Generator().manual_seed(seed))
        model(tokens).square().mean().backward()
        optimizers.step(0.01)
        model.zero_grad()


@pytest.mark.parametrize("name", ["muon", "adamw"])
def test_every_weight_moves(name: OptimizerName) -> None:
    model, optimizers = make(name)
    before = {key: value.clone() for key, value in model.state_dict().items()}
    take_steps(model, optimizers, range(2))
    assert all(not torch.equal(before[key], value) for key, value in model.state_dict().items())


@pytest.mark.parametrize("name", ["muon", "adamw"])
def test_a_restored_state_goes_on_the_same(name: OptimizerName) -> None:
    model, optimizers = make(name)
    take_steps(model, optimizers, range(3))
    other, resumed = make(name)
    other.load_state_dict(model.state_dict())
    resumed.restore({key: value.clone() for key, value in optimizers.state().items()})
    take_steps(model, optimizers, range(3, 6))
    take_steps(other, resumed, range(3, 6))
    for key, value in model.state_dict().items():
        assert torch.equal(value, other.state_dict()[key]), key
