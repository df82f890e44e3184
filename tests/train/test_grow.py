from dataclasses import replace

import pytest
import torch

from pencil.model.config import ModelConfig
from pencil.model.transformer import Transformer
from pencil.train.grow import grow

CONFIG = ModelConfig(vocab_size=11, n_layers=3, d_model=8, n_heads=2, context=16, recent=2)
TOKENS = torch.arange(11).view(1, 11)


@pytest.mark.parametrize("layers", [1, 2, 3])
@pytest.mark.parametrize("more", [0, 1, 3])
def test_a_grown_model_says_what_it_said_before(layers: int, more: int) -> None:
    model = Transformer(replace(CONFIG, n_layers=layers), seed=1)
    grown = grow(model, layers + more, seed=2)
    assert grown.config == replace(CONFIG, n_layers=layers + more)
    assert torch.equal(grown(TOKENS), model(TOKENS))


def test_new_layers_come_before_the_last_two() -> None:
    model = Transformer(CONFIG, seed=1)
    blocks = list(grow(model, 5, seed=2).blocks)
    for old, new in zip(model.blocks, [blocks[0], blocks[3], blocks[4]], strict=True):
        for weight, other in zip(old.parameters(), new.parameters(), strict=True):
            assert torch.equal(weight, other)


def test_new_layers_can_learn() -> None:
    grown = grow(Transformer(CONFIG, seed=1), 4, seed=2)
    grown(TOKENS).square().sum().backward()
    [*_, new, _, _] = grown.blocks
    assert all(getattr(new, name).weight.grad.any() for name in ("out", "down"))
