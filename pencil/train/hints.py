"""The loss of the hints: what the states part of the way through the layers have in mind, and where heads look.

What is in mind is read by the output layer that is there anyway, so nothing new is learned for it. Where a head looks
is the share of its attention that goes to the tokens named.

Shapes in comments: N tokens of a batch, L looks, H heads, Q tokens with hints, K seen by them, D model width, V words.
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from pencil.model.transformer import Attend, Transformer
from pencil.tasks.hints import DEPTHS
from pencil.train.batch import Batch
from pencil.train.pack import Ints

TOGETHER = 64
"""Targets after each other whose looks are computed at once; more of them see more in common, and more in vain."""

ApplyBlock = Callable[[Tensor, Tensor, Tensor, Attend], Tensor]


class HintLoss:
    """Listens at the layers of one pass, and adds up how far they are from the hints."""

    def __init__(self, model: Transformer, batch: Batch, attend: Attend) -> None:
        self.model, self.batch, self.attend = model, batch, attend
        self.total = model.embedding.weight.new_zeros(())
        self.mind_after, self.look_after = (
            layers_before(rows[:, 1], len(model.blocks)) for rows in (batch.hints.mind, batch.hints.looks)
        )

    @torch.compiler.disable  # type: ignore[untyped-decorator]  # which hints there are changes with each batch
    def __call__(self, layer: int, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        """Attention as it is, overheard: how much of it goes where the hints say."""
        looks = self.batch.hints.looks[self.look_after == layer + 1]  # (L, 4)
        looks = looks[looks[:, 2] < q.shape[-2]]  # a small model has fewer heads
        targets = np.unique(looks[:, 0])
        for start in range(0, len(targets), TOGETHER):
            some = targets[start : start + TOGETHER]
            own = looks[(some[0] <= looks[:, 0]) & (looks[:, 0] <= some[-1])]
            self.total = self.total - _shares(Looks.of(self.batch, some, own, q.device), q, k).sum()
        return self.attend(layer, q, k, v)

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
        places = torch.from_numpy(self.batch.places[targets]).to(x.device)
        words = self.model.logits(self.model.norm(x.index_select(0, places)))  # (Q, V), as after the last layer
        holds = torch.from_numpy(signed > 0).to(words)
        in_mind = words[row, abs(signed) - 1]
        self.total = self.total + F.binary_cross_entropy_with_logits(in_mind, holds, reduction="sum")
        return x


class Looks(NamedTuple):
    """Who looks where, for some targets after each other."""

    asking: Tensor
    """(Q,) where in the batch their queries are."""
    keys: Tensor
    """(K,) what any of them sees."""
    unseen: Tensor
    """(Q, K) and what each of them does not."""
    heads: Tensor
    """(H,) the heads that look somewhere."""
    head: Tensor
    """(L,) for each look, which of these heads, the query and the key."""
    query: Tensor
    key: Tensor

    @staticmethod
    def of(batch: Batch, targets: Ints, looks: Ints, device: torch.device) -> "Looks":
        """From the rows of `Hints.looks` that belong to these targets."""
        asking = batch.places[targets]
        now = batch.times[asking][:, None]
        keys = np.flatnonzero((batch.times <= now[-1]) & (now[0] < batch.ends))
        unseen = (batch.times[keys] > now) | (now >= batch.ends[keys])
        heads, head = np.unique(looks[:, 2], return_inverse=True)
        query, key = np.searchsorted(targets, looks[:, 0]), np.searchsorted(keys, looks[:, 3])
        arrays = asking, keys, unseen, heads, head, query, key
        return Looks(*(torch.from_numpy(array).to(device) for array in arrays))


def _shares(looks: Looks, q: Tensor, k: Tensor) -> Tensor:
    """For each query and head that is to look somewhere, the logarithm of the share of attention that goes there."""
    queries, keys = (x[at[:, None], looks.heads].transpose(0, 1) for x, at in ((q, looks.asking), (k, looks.keys)))
    scores = queries @ keys.transpose(1, 2) * q.shape[-1] ** -0.5  # (H, Q, K)
    scores = scores.masked_fill(looks.unseen, -torch.inf)
    everywhere = scores.logsumexp(-1).flatten()  # (H * Q,)
    named = scores[looks.head, looks.query, looks.key]  # (L,)
    pair = looks.head * len(looks.asking) + looks.query
    largest = torch.full_like(everywhere, -torch.inf).scatter_reduce(0, pair, named.detach(), "amax")
    there = torch.zeros_like(everywhere).index_add(0, pair, (named - largest[pair]).exp())
    asked = largest.isfinite()
    shares: Tensor = largest[asked] + there[asked].log() - everywhere[asked]
    return shares


def layers_before(depth: Ints, layers: int) -> Ints:
    """How many layers come before a depth; at least one layer comes after it.

    >>> layers_before(np.array([4, 6, 10]), layers=6).tolist()
    [2, 3, 5]
    """
    return np.minimum((depth * layers + DEPTHS // 2) // DEPTHS, layers - 1)
