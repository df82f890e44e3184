"""Products of tokens and weights by oneDNN, which comes with torch, where it is faster than what torch takes itself.

In float32 that is MKL, which leaves half of the speed of AMD's CPUs with AVX-512 unused. oneDNN makes code for each new
shape; batches come in whole chunks, so that there are few.

Shapes in comments: N tokens, I inputs, O outputs.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import torch
from torch import Tensor, nn

from pencil.model.transformer import Attend, Block, apply_layer


@cache
def onednn_is_faster() -> bool:
    """Whether it is, by what kind of CPU this is."""
    known: dict[str, Any] = getattr(torch.cpu, "get_capabilities", dict)()  # older versions of torch do not say
    has_both = torch.backends.mkl.is_available() and torch.backends.mkldnn.is_available()  # type: ignore[no-untyped-call]
    return bool(has_both) and str(known.get("cpu_name")).startswith("AMD") and bool(known.get("avx512_f"))


class Product(torch.autograd.Function):
    """Tokens (N, I), weights (O, I) -> (N, O), in float32."""

    @staticmethod
    def forward(ctx: Any, tokens: Tensor, weights: Tensor) -> Tensor:
        """Each token's with each row."""
        ctx.save_for_backward(tokens, weights)
        return _multiply(tokens, weights)

    @staticmethod
    def backward(ctx: Any, outer: Tensor) -> tuple[Tensor, Tensor]:
        """(N, O) -> (N, I), (O, I)."""
        tokens, weights = ctx.saved_tensors
        outer = outer.contiguous()
        return _multiply(outer, weights.t()), _multiply(outer.t(), tokens.t())


def _multiply(rows: Tensor, columns: Tensor) -> Tensor:
    """(R, K) and (C, K) -> (R, C)."""
    product: Tensor = torch.ops.mkldnn._linear_pointwise(rows, columns, None, "none", [], "")
    return product


class SwiftBlock:
    """A block whose products are such ones."""

    def __init__(self, block: Block) -> None:
        self.layer, self.heads = block.layer, block.heads
        self.attention_norm, self.mlp_norm = block.attention_norm, block.mlp_norm
        self.qkv, self.out, self.up, self.down = map(_product, (block.qkv, block.out, block.up, block.down))

    def __call__(self, x: Tensor, cos: Tensor, sin: Tensor, attend: Attend) -> Tensor:
        """(N, D) -> (N, D)."""
        return apply_layer(self, x, cos, sin, attend)


def _product(linear: nn.Linear) -> Callable[[Tensor], Tensor]:
    return lambda tokens: Product.apply(tokens, linear.weight)  # type: ignore[no-untyped-call]


def swift_blocks(blocks: list[Block]) -> list[Block] | list[SwiftBlock]:
    """The same with the products that are fastest here."""
    weight = blocks[0].qkv.weight
    fits = weight.is_cpu and weight.dtype == torch.float32 and not torch.is_autocast_enabled("cpu")
    return [SwiftBlock(block) for block in blocks] if fits and onednn_is_faster() else blocks
