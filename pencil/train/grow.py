"""A model with more layers that computes, at first, what one with fewer did."""

from dataclasses import replace

import torch

from pencil.model.transformer import Transformer
from pencil.train.optim import ADDING

LAST = 2
"""How many of the layers stay behind the new ones: those that decide on a word, and say it."""


@torch.no_grad()
def grow(model: Transformer, layers: int, seed: int = 0) -> Transformer:
    """Put layers that add nothing yet before the last ones, until there are so many."""
    grown = Transformer(replace(model.config, n_layers=layers), seed)
    new = layers - len(model.blocks)
    kept = max(0, len(model.blocks) - LAST)
    weights = model.state_dict()
    for name, weight in grown.state_dict().items():
        kind, _, rest = name.partition(".")
        number, _, part = rest.partition(".")
        if kind != "blocks" or int(number) < kept:
            weight.copy_(weights[name])
        elif int(number) >= kept + new:
            weight.copy_(weights[f"blocks.{int(number) - new}.{part}"])
        elif part.removesuffix(".weight").endswith(ADDING):
            weight.zero_()
    return grown
