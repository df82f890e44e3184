"""Named sizes: the paper's three, and small ones that train on a CPU.

The paper's counts, 10.63M, 25.19M and 3.15M, include the tied embedding of a small vocabulary: with 21 to 27 words all
three come out as printed. The paper does not print the heads; ours are 64 wide, as is usual at these widths.
"""

from typing import Any

from pencil.errors import ConfigError
from pencil.model.config import ModelConfig

PRESETS: dict[str, dict[str, int]] = {
    "paper-10m": {"n_layers": 6, "d_model": 384, "n_heads": 6},  # SAT and QBF (section 4)
    "paper-25m": {"n_layers": 8, "d_model": 512, "n_heads": 8},  # Einstein's puzzle (section 4)
    "paper-3m": {"n_layers": 4, "d_model": 256, "n_heads": 4},  # the smallest that solves the puzzle (section 4.2)
    "small": {"n_layers": 6, "d_model": 128, "n_heads": 4},  # 1.2M: an hour on one core
    "tiny": {"n_layers": 4, "d_model": 128, "n_heads": 4},  # 0.8M: half an hour on one core
    "nano": {"n_layers": 2, "d_model": 64, "n_heads": 2},  # 0.1M: seconds, for tests and first steps
}


def preset(name: str, vocab_size: int, **changes: Any) -> ModelConfig:
    """A named size for a vocabulary; `changes` replace single fields, such as `context`."""
    if name not in PRESETS:
        raise ConfigError(f"found no preset {name!r}, expected one of {', '.join(PRESETS)}")
    return ModelConfig(**{"vocab_size": vocab_size, **PRESETS[name], **changes})
