"""Hands: CPU threads that each compute the gradient of their share of a batch, then move their share of the weights.

Threads inside of each operation meet at the end of every one. Hands meet twice a step, so that small operations gain
from all cores too, and a busy machine holds back a step twice and not a thousand times.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

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

        def lend_a_hand(batch: Batch) -> tuple[Loss, tuple[Tensor, ...]]:
            found = loss(batch)
            return found, torch.autograd.grad(found.objective, weights)

        with self._apart():
            futures = [self.others.submit(lend_a_hand, batch) for batch in batches[1:]]
            first = loss(batches[0])
            first.objective.backward()  # type: ignore[no-untyped-call]
            rest = [future.result() for future in futures]
        sums = [weight.grad for weight in weights if weight.grad is not None]
        for _, gradients in rest:
            torch._foreach_add_(sums, list(gradients))
        return [first, *(found for found, _ in rest)]

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
