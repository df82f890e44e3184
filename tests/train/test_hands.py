from functools import partial
from threading import Barrier, current_thread, main_thread

import pytest
import torch

from pencil.model.transformer import ModelConfig, Transformer
from pencil.train.batch import make_batch
from pencil.train.hands import Hands
from pencil.train.loss import Loss, PackedLoss
from pencil.train.pack import pack
from tests.train.examples import task_trace

TRACES = [task_trace("qbf", 2, index) for index in range(3)]
PACKED = [pack(trace.prompt, trace.generated, trace.marks) for trace in TRACES]


@pytest.mark.parametrize("shares", [1, 2, 3])
def test_shares_add_up_to_the_gradient_of_the_whole(shares: int) -> None:
    model = Transformer(ModelConfig(64, n_layers=1, d_model=16, n_heads=2, context=512)).double()
    weights, loss = list(model.parameters()), PackedLoss(model)
    whole = loss(make_batch(PACKED)).total
    expected = torch.autograd.grad(whole, weights)
    batches = [make_batch(PACKED[share::shares]) for share in range(shares)]
    losses = Hands(shares, threads=1).add_gradients(loss, weights, batches)
    assert sum(loss.total.item() for loss in losses) == pytest.approx(whole.item())
    for weight, gradient in zip(weights, expected, strict=True):
        torch.testing.assert_close(weight.grad, gradient, rtol=1e-9, atol=1e-12)


def test_threads_are_divided_among_the_hands_and_given_back() -> None:
    hands, seen = Hands(shares=2, threads=4), []
    weight = torch.ones((), requires_grad=True)

    def note(batch: object) -> Loss:
        seen.append(torch.get_num_threads())
        return Loss(weight * 2, torch.zeros(()), torch.zeros(0))

    hands.add_gradients(note, [weight], [make_batch(PACKED[:1])] * 2)
    assert seen == [2, 2]
    assert torch.get_num_threads() == 4
    assert weight.grad == 4
    torch.set_num_threads(1)


def test_an_error_in_any_hand_is_raised() -> None:
    weight = torch.ones((), requires_grad=True)
    batches = [make_batch(PACKED[:1]), make_batch(PACKED[1:])]

    def fail(batch: object) -> Loss:
        if batch is batches[1]:
            raise MemoryError
        return Loss(weight * 2, torch.zeros(()), torch.zeros(0))

    with pytest.raises(MemoryError):
        Hands(shares=2, threads=1).add_gradients(fail, [weight], batches)


@pytest.mark.parametrize("shares", [1, 2, 3])
def test_every_job_is_done_once_by_one_of_the_hands(shares: int) -> None:
    done: list[tuple[int, int]] = []
    Hands(shares, threads=1).share(
        [partial(lambda job: done.append((job, torch.get_num_threads())), job) for job in range(7)]
    )
    assert sorted(done) == [(job, 1) for job in range(7)]


def test_an_error_in_any_job_is_raised() -> None:
    both_at_work = Barrier(2)

    def fail() -> None:
        both_at_work.wait(10)
        if current_thread() is not main_thread():
            raise MemoryError

    with pytest.raises(MemoryError):
        Hands(shares=2, threads=1).share([fail, fail])
