"""The loss of a packed batch: cross-entropy on what the model generates, and the loss of the hints.

Shapes in comments: N packed tokens, A that ask in the last layer, M targets, V words, D model width.
"""

from collections.abc import Sequence
from typing import NamedTuple, cast

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from pencil.model.transformer import Attend, Block, Transformer, finish, split_heads
from pencil.train.attention import ChunkedAttention
from pencil.train.batch import Batch, in_blocks
from pencil.train.hints import ApplyBlock, HintLoss
from pencil.train.products import SwiftBlock, swift_blocks


class Loss(NamedTuple):
    """Sums over a batch, so that parts of a batch add up."""

    total: Tensor
    """() the summed cross-entropy."""
    hints: Tensor
    """() that of the hints, to be learned along with it."""
    wrong: Tensor
    """(M,) whether the likeliest token is not the target."""

    @property
    def objective(self) -> Tensor:
        """() what to make small."""
        return self.total + self.hints


class PackedLoss(nn.Module):
    """A batch to its loss; a module, so that it can be wrapped for many machines."""

    def __init__(self, model: Transformer, native: bool = False) -> None:
        super().__init__()
        self.model = model
        self.native = native

    def forward(self, batch: Batch) -> Loss:
        """The loss on the tokens the model generates."""
        weight = self.model.embedding.weight
        ids, positions, inputs, targets = (
            torch.from_numpy(array).to(weight.device, non_blocking=True)
            for array in (batch.ids, batch.positions, in_blocks(batch.inputs), batch.targets)
        )
        every, last = (
            ChunkedAttention(batch, part, weight.device, weight.dtype, self.native)
            for part in (batch.every, batch.last)
        )
        hints = HintLoss(self.model, batch, every)
        own = [cast(Block, block) for block in self.model.blocks]
        blocks = frugal_blocks(self.model, swift_blocks(own) if self.native else own, ids, last)
        config = self.model.config
        around = torch.from_numpy(batch.surroundings(config)).to(weight.device) if config.surroundings else None
        hidden = self.model.hidden(ids, positions, hints, hints.listen_in(blocks), around)  # (A, D)
        logits = self.model.logits(hidden.index_select(0, inputs))[: len(targets)]  # (M, V)
        wrong = logits.detach().argmax(-1) != targets
        return Loss(F.cross_entropy(logits, targets, reduction="sum"), hints.total, wrong)


def frugal_blocks(
    model: Transformer, blocks: Sequence[Block | SwiftBlock], ids: Tensor, last_attend: ChunkedAttention
) -> list[ApplyBlock]:
    """A model's blocks, without what the first and the last would compute in vain.

    The first one's queries, keys and values depend on the word alone, if it does not know those before it: each word is
    projected once. The last one goes on with those tokens only after which something is predicted.
    """
    first, *middle, last = blocks[0], *blocks[1:-1], blocks[-1]

    def begin(x: Tensor, cos: Tensor, sin: Tensor, attend: Attend) -> Tensor:
        """(N, D) -> (N, D)."""
        words = first.qkv(first.attention_norm(model.embedding.weight))  # (V, 3D)
        qkv = F.embedding(ids, words.to(x))  # in float32: the gradients of all tokens with a word are added up
        return finish(first, x, attend(0, *split_heads(first, qkv, cos, sin)))

    def end(x: Tensor, cos: Tensor, sin: Tensor, attend: Attend) -> Tensor:
        """(N, D) -> (A, D)."""
        q, k, v = split_heads(last, last.qkv(last.attention_norm(x)), cos, sin)
        mixed = last_attend(last.layer, q.index_select(0, last_attend.queries), k, v)
        return finish(last, x.index_select(0, last_attend.queries), mixed)

    if len(blocks) == 1:
        return [end]
    return [begin if model.surroundings is None else first, *middle, end]
