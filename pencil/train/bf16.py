"""Training in bfloat16: its products, on devices that have instructions for it.

Weights, their moments, the stream and all sums over tokens stay in float32. On a CPU so does attention, unless it is
compiled for one that multiplies tiles (`pencil/train/native.py`).
"""

from typing import Any

import torch

NATIVE = ("avx512_bf16", "amx_bf16", "bf16")
"""What torch calls the instructions for products in bfloat16, on x86 and on ARM."""


def has_bf16() -> bool:
    """Whether this CPU has instructions for products in bfloat16; without them float32 may be many times faster."""
    known: dict[str, Any] = getattr(torch.cpu, "get_capabilities", dict)()  # older versions of torch do not say
    return any(known.get(name) for name in NATIVE)


def in_bf16(device: str) -> torch.autocast:
    """A context whose products are in bfloat16; what is cast is not kept, since hands would share it."""
    return torch.autocast(device, torch.bfloat16, cache_enabled=False)
