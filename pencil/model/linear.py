"""A linear layer without bias that is quick for the few tokens of a decoding step."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

FEW = 64
"""Up to this many tokens the product is split; measured on two cores, beyond it the plain product is as fast."""


class Linear(nn.Linear):
    """`nn.Linear` without bias; in inference mode on a CPU, few tokens go through `split_product`."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__(inputs, outputs, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """(..., inputs) -> (..., outputs)."""
        if x.ndim == 2 and len(x) <= FEW and torch.is_inference_mode_enabled() and x.device.type == "cpu":
            return split_product(x, self.weight)
        return F.linear(x, self.weight)


def split_product(x: Tensor, weight: Tensor) -> Tensor:
    """(N, I) x (O, I) -> (N, O): the weights cut into one block of rows per thread.

    The plain product of few tokens runs on one thread, although it is bound by reading the weights; a batch of
    blocks runs on all of them. The blocks are views, so nothing is copied and training may change the weights.
    """
    outputs, inputs = weight.shape
    blocks = _blocks(outputs)
    product = torch.bmm(weight.view(blocks, -1, inputs), x.t().expand(blocks, -1, -1))  # (blocks, O / blocks, N)
    return product.view(outputs, -1).t()


def _blocks(outputs: int) -> int:
    """A power of two that covers the threads and divides the outputs; two at least, which helps one thread as well."""
    blocks = 2
    while blocks < torch.get_num_threads() and outputs % (2 * blocks) == 0:
        blocks *= 2
    return blocks if outputs % blocks == 0 else 1
