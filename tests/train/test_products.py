from typing import cast

import pytest
import torch
from torch.nn import functional as F

from pencil.model.transformer import Block, ModelConfig, Transformer
from pencil.train import products
from pencil.train.batch import make_batch
from pencil.train.bf16 import in_bf16
from pencil.train.loss import PackedLoss
from pencil.train.pack import pack
from pencil.train.products import Product, SwiftBlock, onednn_is_faster, swift_blocks
from tests.train.examples import task_trace

needs_onednn = pytest.mark.skipif(not torch._C._has_mkldnn, reason="a torch without oneDNN")


@needs_onednn
@pytest.mark.parametrize("shape", [(64, 32, 96), (128, 48, 32), (1, 16, 16)])
def test_a_product_and_its_gradients_are_those_of_torch(shape: tuple[int, int, int]) -> None:
    count, inputs, outputs = shape
    tokens, weights = torch.randn(count, inputs, requires_grad=True), torch.randn(outputs, inputs, requires_grad=True)
    found = []
    for way in (Product.apply, F.linear):
        product = way(tokens, weights)
        found.append([product, *torch.autograd.grad(product.sin().sum(), [tokens, weights])])
    torch.testing.assert_close(*found)


@needs_onednn
@pytest.mark.parametrize("layers", [1, 2, 3])
def test_a_loss_has_the_same_gradients_with_them(layers: int, monkeypatch: pytest.MonkeyPatch) -> None:
    trace = task_trace("einstein", 3)
    batch = make_batch([pack(trace.prompt, trace.generated, trace.marks)])
    model, found = Transformer(ModelConfig(160, n_layers=layers, d_model=32, n_heads=1, context=1024), seed=3), []
    for faster in (True, False):
        monkeypatch.setattr(products, "onednn_is_faster", lambda faster=faster: faster)
        loss = PackedLoss(model, native=True)(batch).total
        found.append([loss, *torch.autograd.grad(loss, list(model.parameters()))])
    torch.testing.assert_close(*found, rtol=1e-4, atol=1e-4)


def test_they_are_for_float32_on_a_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(products, "onednn_is_faster", lambda: True)
    model = Transformer(ModelConfig(8, n_layers=2, d_model=8, n_heads=1))
    blocks = [cast(Block, block) for block in model.blocks]
    assert all(isinstance(block, SwiftBlock) for block in swift_blocks(blocks))
    with in_bf16("cpu"):
        assert swift_blocks(blocks) == blocks
    model.double()
    assert swift_blocks(blocks) == blocks


@pytest.mark.parametrize(
    ("known", "expected"),
    [
        ({"cpu_name": "AMD EPYC", "avx512_f": True}, True),
        ({"cpu_name": "AMD EPYC", "avx512_f": False}, False),
        ({"cpu_name": "Intel(R) Xeon(R)", "avx512_f": True}, False),
        ({}, False),
    ],
)
def test_the_kind_of_cpu_tells_what_is_faster(
    known: dict[str, object], expected: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: known, raising=False)
    for backend in (torch.backends.mkl, torch.backends.mkldnn):
        monkeypatch.setattr(backend, "is_available", lambda: True)
    onednn_is_faster.cache_clear()
    assert onednn_is_faster() is expected
    onednn_is_faster.cache_clear()
