"""Hands: CPU threads that each compute the gradient of their share of a batch, then move their share of the weights.

Threads inside of each operation meet at the end of every one. Hands meet twice a step, so that small operations gain
from all cores too, and a busy machine holds back a step twice and not a thousand times.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial

import torch
from torch import Tensor

from pencil.train.batch import Batch
from pencil.train.loss import Loss


class Hands:
    """As many as there are shares; all other work uses every thread inside of its operations."""

    def __init__(self, shares: int, threads: int) -> None:
        torch.set_num_threads(threads)
        self.count, self.threads, self.each = shares, threads, max(1, threads // shares)
        self.others = ThreadPoolExecutor(max(1, shares - 1), "hand", torch.set_num_threads, (self.each,))

    def add_gradients(
        self, loss: Callable[[Batch], Loss], weights: Sequence[Tensor], batches: Sequence[Batch]
    ) -> list[Loss]:
        """Add the gradients of all batches to those of the weights; the loss of each."""
        if len(batches) == 1:
            found = loss(batches[0])
            found.objective.backward()  # type: ignore[no-untyped-call]  # processes that share it add up theirs here
            return [found]
        results: dict[int, tuple[Loss, tuple[Tensor, ...]]] = {}

        def learn(number: int) -> None:
            found = loss(batches[number])
            results[number] = found, torch.autograd.grad(found.objective, weights)

        self.share([partial(learn, number) for number in range(len(batches))])
        losses, gradients = zip(*(results[number] for number in range(len(batches))), strict=True)
        sums = list(gradients[0])
        for some in gradients[1:]:
            torch._foreach_add_(sums, list(some))
        for weight, gradient in zip(weights, sums, strict=True):
            weight.grad = gradient if weight.grad is None else weight.grad + gradient
        return list(losses)

    def share(self, jobs: Sequence[Callable[[], None]]) -> None:
        """Do all jobs, the next one always by the hand that is free."""
        waiting = iter(jobs)

        def lend_a_hand() -> None:
            for job in waiting:
                job()

        with self._apart():
            futures = [self.others.submit(lend_a_hand) for _ in range(1, self.count)]
            lend_a_hand()
            for future in futures:
                future.result()

    @contextmanager
    def _apart(self) -> Iterator[None]:
        """This thread is a hand among others for a while."""
        torch.set_num_threads(self.each)
        try:
            yield
        finally:
            torch.set_num_threads(self.threads)
