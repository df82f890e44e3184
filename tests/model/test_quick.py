import pytest
import torch
from torch import nn

from pencil.model import quick
from pencil.model.quick import QuickBlock, quick_linear, quick_norm, split, split_product
from pencil.model.transformer import Block, ModelConfig, causal, rotations


@pytest.mark.parametrize("threads", [1, 2, 3, 8])
@pytest.mark.parametrize(
    ("outputs", "blocks"), [(96, {1: 2, 2: 4, 3: 8, 8: 16}), (6, dict.fromkeys((1, 2, 3, 8), 2)), (7, {})]
)
def test_weights_split_evenly_over_the_threads(
    threads: int, outputs: int, blocks: dict[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch, "get_num_threads", lambda: threads)
    assert len(split(torch.zeros(outputs, 24))) == blocks.get(threads, 1)


@pytest.mark.parametrize("tokens", [1, 2, 7, 64])
@pytest.mark.parametrize("outputs", [96, 6, 7])
def test_the_split_product_is_the_product(tokens: int, outputs: int) -> None:
    x, weight = torch.randn(tokens, 24), torch.randn(outputs, 24)
    torch.testing.assert_close(split_product(split(weight), x.T), weight @ x.T, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("tokens", [1, 4, 5, 64, 65])
@pytest.mark.parametrize("large", [1, quick.LARGE])
def test_a_quick_layer_is_the_layer(tokens: int, large: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quick, "LARGE", large)
    layer, norm, x = nn.Linear(24, 48, bias=False), nn.LayerNorm(24, bias=False), torch.randn(tokens, 24)
    nn.init.normal_(norm.weight)
    torch.testing.assert_close(quick_linear(layer)(x.T).T, layer(x), atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(quick_norm(norm)(x), norm(x))


def test_a_quick_block_is_the_block() -> None:
    config = ModelConfig(vocab_size=5, n_layers=1, d_model=32, n_heads=2, context=16)
    block, x = Block(config, 0), torch.randn(1, 10, 32)
    turns = [table[:10] for table in rotations(config)]
    flat = QuickBlock(block)(x[0], turns[0], turns[1], lambda *args: causal(*args))
    torch.testing.assert_close(flat, block(x, turns[0], turns[1], causal)[0], atol=1e-5, rtol=1e-5)


def test_new_weights_are_seen_at_once() -> None:
    layer, x = nn.Linear(24, 48, bias=False), torch.randn(24, 1)
    quick_layer = quick_linear(layer)
    before = quick_layer(x).clone()
    with torch.no_grad():
        layer.weight.mul_(2)
    torch.testing.assert_close(quick_layer(x), 2 * before)
