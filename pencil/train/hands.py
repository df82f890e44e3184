"""Hands: CPU threads that each compute the gradient of their share of a batch, at the same time.

Threads inside of each operation meet at the end of every one. Hands meet once a step, so that small operations gain
from all cores too, and a busy machine holds back a step once and not a thousand times. A share that nothing is to be
learned from costs no backward pass.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

import torch
from torch import Tensor

from pencil.train.batch import Batch
from pencil.train.loss import Loss


class Hands:
    """As many as there are shares; all other work uses every thread inside of its operations."""

    def __init__(self, shares: int, threads: int) -> None:
        torch.set_num_threads(threads)
        self.pool = ThreadPoolExecutor(shares, "hand", torch.set_num_threads, (max(1, threads // shares),))

    def add_gradients(
        self, loss: Callable[[Batch], Loss], weights: Sequence[Tensor], batches: Sequence[Batch]
    ) -> list[Loss]:
        """Add the gradients of all batches to those of the weights; the loss of each."""

        def lend_a_hand(batch: Batch) -> tuple[Loss, Sequence[Tensor]]:
            found = loss(batch)
            return found, torch.autograd.grad(found.objective, weights) if found.learned else ()

        done = list(self.pool.map(lend_a_hand, batches))
        for gradients in (gradients for _, gradients in done if gradients):
            add_to_gradients(weights, gradients)
        return [found for found, _ in done]


def add_gradients_at_once(loss: Callable[[Batch], Loss], batches: Sequence[Batch]) -> list[Loss]:
    """The same by one backward pass, which many processes need: they gather gradients while it goes on."""
    losses = [loss(batch) for batch in batches]
    torch.stack([found.objective for found in losses]).sum().backward()  # type: ignore[no-untyped-call]
    return losses


def add_to_gradients(weights: Sequence[Tensor], gradients: Sequence[Tensor]) -> None:
    """Add to what the weights have, if they have any."""
    held = [weight.grad for weight in weights if weight.grad is not None]
    if held:
        torch._foreach_add_(held, list(gradients))
    else:
        for weight, gradient in zip(weights, gradients, strict=True):
            weight.grad = gradient
