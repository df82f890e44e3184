from dataclasses import replace

import pytest
import torch

from pencil.errors import ConfigError
from pencil.model.int8 import Int8Linear, to_int8
from pencil.model.transformer import ModelConfig, Transformer

CONFIG = ModelConfig(vocab_size=12, n_layers=2, d_model=64, n_heads=2, context=64)


@pytest.mark.parametrize("tokens", [1, 5, 200])
def test_a_product_keeps_two_digits(tokens: int) -> None:
    layer = torch.nn.Linear(256, 64, bias=False)
    x = torch.randn(tokens, 256, generator=torch.Generator().manual_seed(0))
    exact, rounded = layer(x).detach(), Int8Linear(layer)(x)
    assert (exact - rounded).std() < 0.03 * exact.std()


def test_a_token_does_not_depend_on_the_others() -> None:
    layer = Int8Linear(torch.nn.Linear(256, 64, bias=False))
    x = torch.randn(20, 256, generator=torch.Generator().manual_seed(0)) * torch.logspace(-3, 3, 20).unsqueeze(1)
    assert torch.equal(layer(x), torch.cat([layer(row) for row in x.unsqueeze(1)]))
    assert torch.equal(layer(torch.zeros(1, 256)), torch.zeros(1, 64))


@pytest.mark.parametrize("known", [0, 3])
def test_a_model_in_8_bits_is_close_and_the_original_stays(known: int) -> None:
    model = Transformer(replace(CONFIG, recent=known, pairs=known > 0, levels=known, places=4 * known))
    before = model.state_dict()["blocks.0.qkv.weight"].clone()
    quick = to_int8(model)
    tokens = torch.randint(0, 12, (1, 40), generator=torch.Generator().manual_seed(0))
    with torch.inference_mode():
        exact, rounded = model(tokens), quick(tokens)
        cached = quick.decoder().feed([0], tokens.tolist())
    assert (exact - rounded).std() < 0.05 * exact.std()
    assert (exact[0, -1] - cached[0]).std() < 0.05 * exact.std()
    assert torch.equal(model.state_dict()["blocks.0.qkv.weight"], before)


def test_a_build_without_8_bit_kernels_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type(torch.backends.quantized), "supported_engines", ["none"])
    with pytest.raises(ConfigError, match="no 8-bit linear layers"):
        to_int8(Transformer(CONFIG))
