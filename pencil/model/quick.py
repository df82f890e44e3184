"""A transformer's layers as plain functions, made once for many decoding steps.

They compute what the modules compute. Modules cost more to call than a small layer takes, and torch's product of few
tokens with a matrix runs on one thread. So here tokens are columns: a batch of products, each of some rows of the
weights with all columns, runs on all threads. All weights are views: training may go on.
"""

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from pencil.model.transformer import Attend, Block, rotate

LARGE = 2**17
"""Below this many weights, splitting a product costs more than it gains."""
NARROW = 8
"""Up to this many columns, a product reads them faster if each lies in one piece."""

Layer = Callable[[Tensor], Tensor]
"""(inputs, N) -> (outputs, N)."""


class QuickBlock:
    """The parts of a block, ready to be applied."""

    def __init__(self, block: Block) -> None:
        self.layer, self.heads = block.layer, block.heads
        self.attention_norm, self.mlp_norm = quick_norm(block.attention_norm), quick_norm(block.mlp_norm)
        self.qkv, self.out, self.up, self.down = map(quick_linear, (block.qkv, block.out, block.up, block.down))

    def __call__(self, x: Tensor, cos: Tensor, sin: Tensor, attend: Attend) -> Tensor:
        """(N, D) -> (N, D), as `apply_layer` does."""
        qkv = self.qkv(self.attention_norm(x).t()).t().contiguous().view(-1, 3, *self.heads)  # (N, 3, H, E)
        q, k = rotate(qkv.narrow(1, 0, 2), cos, sin).unbind(1)  # each (N, H, E)
        mixed = attend(self.layer, q, k, qkv.select(1, 2))  # (N, H, E)
        x = x + self.out(mixed.flatten(1).t()).t()
        return x + self.down(F.gelu(self.up(self.mlp_norm(x).t()))).t()


def quick_norm(norm: nn.LayerNorm) -> Layer:
    """A layer norm without the calls around it; tokens are rows here, (N, D) -> (N, D)."""
    shape, weight, epsilon = norm.normalized_shape, norm.weight.detach(), norm.eps
    return lambda x: torch.native_layer_norm(x, shape, weight, None, epsilon)[0]


def quick_linear(linear: nn.Module) -> Layer:
    """A linear layer that splits the work where that pays; another kind of layer stays as it is."""
    if not isinstance(linear, nn.Linear):
        return lambda columns: linear.forward(columns.t()).t()
    weight = linear.weight.detach()
    if weight.device.type != "cpu":
        return lambda columns: torch.mm(weight, columns)
    blocks = split(weight) if weight.numel() >= LARGE else weight.unsqueeze(0)
    return lambda columns: split_product(blocks, columns)


def split(weight: Tensor) -> Tensor:
    """(O, I) -> (blocks, O / blocks, I): a power of two, at least two for each thread."""
    outputs, inputs = weight.shape
    blocks = 2
    while blocks < 2 * torch.get_num_threads():
        blocks *= 2
    while outputs % blocks:
        blocks //= 2
    return weight.view(blocks, -1, inputs)


def split_product(blocks: Tensor, columns: Tensor) -> Tensor:
    """(blocks, O / blocks, I) x (I, N) -> (O, N)."""
    if columns.shape[1] <= NARROW:
        columns = columns.t().contiguous().t()
    return torch.bmm(blocks, columns.expand(len(blocks), -1, -1)).flatten(0, 1)
