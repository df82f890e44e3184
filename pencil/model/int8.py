"""Linear layers in 8 bits: faster for many rows on a CPU, at about two digits of precision.

Weights get one scale for each output, inputs one for each token. So a row's logits do not depend on its neighbours, as
in float32, and greedy answers of a well-trained model stay the same.
"""

import warnings
from copy import deepcopy
from typing import Any

import torch
from torch import Tensor, nn

from pencil.errors import ConfigError
from pencil.model.transformer import Transformer

LEVELS = 63
"""Inputs take 7 bits, from -63 to 63, since sums of 8 by 8 bits overflow without VNNI."""


class Int8Linear(nn.Module):
    """A linear layer that multiplies 8-bit weights with inputs rounded on the way in."""

    def __init__(self, layer: nn.Linear) -> None:
        super().__init__()
        weight = layer.weight.detach().float().cpu()
        scales = (weight.abs().amax(1) / 127).clamp_min(1e-12).double()  # one for each output
        with warnings.catch_warnings(action="ignore"):  # torch plans to drop the type, but has no other quick kernel
            rounded = torch.quantize_per_channel(weight, scales, torch.zeros_like(scales).long(), 0, torch.qint8)
        self.packed: Any = torch.ops.quantized.linear_prepack(rounded, None)

    def forward(self, x: Tensor) -> Tensor:
        """(..., inputs) -> (..., outputs)."""
        largest = x.abs().amax(-1, keepdim=True).clamp_min(1e-12)
        multiply = torch.ops.quantized.linear_with_input_q_dq_qweight_dq_output_fp32
        product: Tensor = multiply(x / largest, 1 / LEVELS, LEVELS + 1, self.packed)
        return product * largest


def to_int8(model: Transformer) -> Transformer:
    """A copy for inference on a CPU; embeddings and norms stay in float32."""
    if "fbgemm" not in torch.backends.quantized.supported_engines or not hasattr(torch, "quantize_per_channel"):
        raise ConfigError("this build of torch has no 8-bit linear layers for this CPU; use the model as it is")
    quick = deepcopy(model).requires_grad_(False)
    for block in quick.blocks:
        for name, layer in list(block.named_children()):
            if isinstance(layer, nn.Linear):
                setattr(block, name, Int8Linear(layer))
    return quick
