"""A transformer's layers as plain functions, made once for many decoding steps of few tokens.

They compute what the modules compute. Modules cost more to call than a small layer takes, and the plain product of few
tokens runs on one thread although it is bound by reading the weights. All weights are views: training may go on.
"""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from pencil.model.transformer import Attend, Block, apply_layer

FEW = 64
"""Up to this many tokens a product is bound by reading the weights; with more, the plain product is as fast."""
LARGE = 2**17
"""Below this many weights, splitting a product costs more than it gains."""

Layer = Callable[[Tensor], Tensor]


class QuickBlock:
    """The parts of a block, ready to be applied."""

    def __init__(self, block: Block) -> None:
        self.layer, self.heads = block.layer, block.heads
        self.attention_norm, self.mlp_norm = quick_norm(block.attention_norm), quick_norm(block.mlp_norm)
        self.qkv, self.out, self.up, self.down = map(quick_linear, (block.qkv, block.out, block.up, block.down))

    def __call__(self, x: Tensor, cos: Tensor, sin: Tensor, attend: Attend) -> Tensor:
        """(N, D) -> (N, D)."""
        return apply_layer(self, x, cos, sin, attend)


def quick_norm(norm: nn.LayerNorm) -> Layer:
    """A layer norm without the calls around it."""
    shape, weight, epsilon = norm.normalized_shape, norm.weight.detach(), norm.eps
    return lambda x: torch.native_layer_norm(x, shape, weight, None, epsilon)[0]


def quick_linear(linear: nn.Module) -> Layer:
    """A linear layer that splits the work where that pays; another kind of layer stays as it is."""
    if not isinstance(linear, nn.Linear):
        return linear.forward
    weight = linear.weight.detach()
    transposed = weight.t()
    if weight.numel() < LARGE or weight.device.type != "cpu":
        return lambda x: torch.mm(x, transposed)
    blocks = split(weight)
    few = FEW if torch.get_num_threads() > 1 else 4
    return lambda x: split_product(x, blocks) if len(x) <= few else torch.mm(x, transposed)


def split(weight: Tensor) -> Tensor:
    """(O, I) -> (blocks, O / blocks, I): a power of two that covers the threads, and two at least."""
    outputs, inputs = weight.shape
    blocks = 2
    while blocks < torch.get_num_threads():
        blocks *= 2
    while outputs % blocks:
        blocks //= 2
    return weight.view(blocks, -1, inputs)


def split_product(x: Tensor, blocks: Tensor) -> Tensor:
    """(N, I) x (blocks, O / blocks, I) -> (N, O); a batch of products runs on all threads."""
    product = torch.bmm(blocks, x.t().expand(len(blocks), -1, -1))  # (blocks, O / blocks, N)
    return product.view(-1, len(x)).t().contiguous()
