import pytest
import torch

from pencil.model.linear import FEW, Linear, split_product


@pytest.mark.parametrize("tokens", [1, 2, 7, 64])
@pytest.mark.parametrize("outputs", [96, 6, 7])
def test_the_split_product_is_the_product(tokens: int, outputs: int) -> None:
    x, weight = torch.randn(tokens, 24), torch.randn(outputs, 24)
    torch.testing.assert_close(split_product(x, weight), x @ weight.T, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("shape", [(1, 24), (FEW, 24), (FEW + 1, 24), (2, 3, 24)])
def test_inference_gives_what_training_gives(shape: tuple[int, ...]) -> None:
    layer, x = Linear(24, 48), torch.randn(shape)
    with torch.inference_mode():
        quick = layer(x)
    torch.testing.assert_close(quick.clone(), layer(x).detach(), atol=1e-5, rtol=1e-5)


def test_new_weights_are_seen_at_once() -> None:
    layer, x = Linear(24, 48), torch.randn(1, 24)
    with torch.inference_mode():
        before = layer(x).clone()
    with torch.no_grad():
        layer.weight.mul_(2)
    with torch.inference_mode():
        torch.testing.assert_close(layer(x), 2 * before)
