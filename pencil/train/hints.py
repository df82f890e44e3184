"""The loss of the hints: what the states part of the way through the layers have in mind, and where heads look.

What is in mind is read by the output layer that is there anyway, so nothing new is learned for it. Where a head looks
is the share of its attention that goes to the tokens named.

Shapes in comments: N tokens of a batch, Q of them with hints, D model width, V words.
"""

from collections.abc import Callable
from functools import partial

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from pencil.model.transformer import Attend, Transformer
from pencil.tasks.hints import DEPTHS
from pencil.train.attention import ChunkedAttention
from pencil.train.batch import Batch, in_blocks
from pencil.train.pack import Ints

ApplyBlock = Callable[[Tensor, Tensor, Tensor, Attend], Tensor]


class HintLoss:
    """Listens at the layers of one pass, and adds up how far they are from the hints."""

    def __init__(self, model: Transformer, batch: Batch, attend: ChunkedAttention) -> None:
        self.model, self.batch, self.attend = model, batch, attend
        self.total = model.embedding.weight.new_zeros(())
        self.mind_after, self.look_after = (
            layers_before(rows[:, 1], len(model.blocks)) for rows in (batch.hints.mind, batch.hints.looks)
        )

    @torch.compiler.disable  # type: ignore[untyped-decorator]  # which hints there are changes with each batch
    def __call__(self, layer: int, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        """Attention as it is; where heads are told to look somewhere, it is overheard."""
        target, _, head, key = self.batch.hints.looks[self.look_after == layer + 1].T
        looks = np.column_stack((self.batch.places[target], head, key))[head < q.shape[-2]]  # a small model has fewer
        if len(looks):
            mixed, shares = self.attend.overhear(q, k, v, looks)
            self.total = self.total - shares.sum()
        else:
            mixed = self.attend(layer, q, k, v)
        return mixed

    def listen_in(self, blocks: list[ApplyBlock]) -> list[ApplyBlock]:
        """The blocks, with taps between them where something is to be in mind."""
        parts: list[ApplyBlock] = []
        for depth, block in enumerate(blocks):
            if depth in self.mind_after:
                parts.append(partial(self._tap, depth))
            parts.append(block)
        return parts

    @torch.compiler.disable  # type: ignore[untyped-decorator]
    def _tap(self, depth: int, x: Tensor, *_: object) -> Tensor:
        """(N, D) -> (N, D), unchanged: how far the words in mind after so many layers are from those of the hints."""
        target, _, signed = self.batch.hints.mind[self.mind_after == depth].T
        targets, row = np.unique(target, return_inverse=True)
        places = torch.from_numpy(in_blocks(self.batch.places[targets])).to(x.device)
        words = self.model.logits(self.model.norm(x.index_select(0, places)))  # (Q or more, V), as in the end
        holds = torch.from_numpy(signed > 0).to(words)
        in_mind = words[row, abs(signed) - 1]
        self.total = self.total + F.binary_cross_entropy_with_logits(in_mind, holds, reduction="sum")
        return x


def layers_before(depth: Ints, layers: int) -> Ints:
    """How many layers come before a depth; at least one layer comes after it.

    >>> layers_before(np.array([4, 6, 10]), layers=6).tolist()
    [2, 3, 5]
    """
    return np.minimum((depth * layers + DEPTHS // 2) // DEPTHS, layers - 1)
