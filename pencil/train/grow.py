"""A model with more layers that computes, at first, what one with fewer did."""

from dataclasses import replace

from pencil.model.transformer import Transformer
from pencil.train.optim import scale_additions

LAST = 2
"""How many of the layers stay behind the new ones: those that decide on a word, and say it."""


def grow(model: Transformer, layers: int, seed: int = 0) -> Transformer:
    """Put layers that add nothing yet before the last ones, until there are so many."""
    grown = Transformer(replace(model.config, n_layers=layers), seed)
    scale_additions(grown, 0.0)  # what is there already is put back
    kept = max(0, len(model.blocks) - LAST)
    there = [*grown.blocks[:kept], *grown.blocks[kept + layers - len(model.blocks) :]]
    for block, known in zip(there, model.blocks, strict=True):
        block.load_state_dict(known.state_dict())
    rest = {name: weight for name, weight in model.state_dict().items() if not name.startswith("blocks.")}
    grown.load_state_dict(rest, strict=False)
    return grown
