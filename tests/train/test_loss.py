from collections.abc import Sequence
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from pencil.model.transformer import ModelConfig, Transformer
from pencil.trace import Trace
from pencil.train.batch import make_batch
from pencil.train.loss import PackedLoss
from pencil.train.pack import pack
from tests.train.examples import BY_HAND, task_trace


def tiny(n_layers: int = 3, known: int = 0, frames: int = 0, outermost: bool = False) -> Transformer:
    around: dict[str, Any] = {"recent": known, "pairs": known > 0, "levels": known, "places": 40 * known}
    config = ModelConfig(
        160, n_layers, d_model=16, n_heads=2, context=1024, **around, frames=frames, outermost=outermost
    )
    return Transformer(config, seed=3).double()


def segment_by_segment(model: Transformer, traces: Sequence[Trace[int]]) -> Tensor:
    """The definition: each x^(i) as a sequence of its own, the loss on the tokens it generated."""
    total = torch.zeros((), dtype=torch.float64)
    for trace in traces:
        for segment in trace.segments():
            logits = model(torch.tensor([segment.tokens[:-1]]))[0]
            generated = torch.tensor(segment.generated)
            total = total + F.cross_entropy(logits[segment.start - 1 :], generated, reduction="sum")
    return total


def packed_loss(model: Transformer, traces: Sequence[Trace[int]], chunk: int | None) -> Tensor:
    seen = model.config.frames, model.config.outermost
    batch = make_batch([pack(trace.prompt, trace.generated, trace.marks, None, *seen) for trace in traces], chunk)
    loss: Tensor = PackedLoss(model)(batch).total
    return loss


def gradients(model: Transformer, loss: Tensor) -> dict[str, Tensor]:
    names = [name for name, _ in model.named_parameters()]
    return dict(zip(names, torch.autograd.grad(loss, list(model.parameters())), strict=True))


def assert_equal_loss_and_gradients(traces: Sequence[Trace[int]], chunk: int | None, **sizes: Any) -> None:
    model = tiny(**sizes)
    reference, packed = segment_by_segment(model, traces), packed_loss(model, traces, chunk)
    torch.testing.assert_close(packed, reference, rtol=1e-12, atol=1e-12)
    expected, found = gradients(model, reference), gradients(model, packed)
    for name, gradient in expected.items():
        difference = (found[name] - gradient).abs().max().item()
        assert difference < 1e-9 * max(1.0, gradient.abs().max().item()), name


@pytest.mark.parametrize("name", BY_HAND)
@pytest.mark.parametrize("n_layers", [1, 2, 3])
@pytest.mark.parametrize("known", [0, 2])
def test_a_trace_has_the_loss_and_gradients_of_its_segments(name: str, n_layers: int, known: int) -> None:
    assert_equal_loss_and_gradients([BY_HAND[name]], chunk=4, n_layers=n_layers, known=known)


@pytest.mark.parametrize("task", ["qbf", "sat", "einstein"])
@pytest.mark.parametrize("chunk", [None, 5])
def test_a_batch_of_a_task_has_the_loss_and_gradients_of_its_segments(task: str, chunk: int | None) -> None:
    traces = [task_trace(task, 3, index) for index in range(3)]
    assert_equal_loss_and_gradients(traces, chunk)
    assert_equal_loss_and_gradients(traces, chunk, known=8)
    assert_equal_loss_and_gradients(traces, chunk, frames=2)
    assert_equal_loss_and_gradients(traces, chunk, frames=1, outermost=True)


def test_wrong_counts_the_targets_that_are_not_likeliest() -> None:
    model, trace = tiny(), BY_HAND["no reduction"]
    batch = make_batch([pack(trace.prompt, trace.generated, None)])
    likeliest = model(torch.tensor([[9, 5, 6]]))[0].argmax(-1)
    assert PackedLoss(model)(batch).wrong.tolist() == (likeliest != torch.tensor([5, 6, 7])).tolist()
