import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from pencil.model.int8 import to_int8
from pencil.model.single import SingleToken, array, attend, gelu, rotate
from pencil.model.transformer import ModelConfig, Transformer
from pencil.model.transformer import rotate as rotate_tensor

CONFIG = ModelConfig(vocab_size=20, n_layers=3, d_model=64, n_heads=4, context=40)


@pytest.mark.parametrize("known", [0, 3])
def test_a_single_token_gives_the_logits_of_the_model(known: int) -> None:
    model = Transformer(replace(CONFIG, recent=known, pairs=known > 0, levels=known, places=4 * known))
    for weight in model.parameters():
        torch.nn.init.normal_(weight, std=0.3)
    tokens = torch.randint(0, 20, (40,), generator=torch.Generator().manual_seed(0)).tolist()
    single = SingleToken(model)
    cache = [(np.zeros((4, 40, 16), np.float32), np.zeros((4, 40, 16), np.float32)) for _ in range(3)]
    with torch.no_grad():
        expected = model(torch.tensor([tokens]))[0]
    for position in range(len(tokens)):
        logits = torch.from_numpy(single(tokens[: position + 1], cache))
        torch.testing.assert_close(logits, expected[position], atol=1e-4, rtol=1e-4)


def test_new_weights_are_seen_at_once() -> None:
    model = Transformer(CONFIG)
    single = SingleToken(model)
    cache = [(np.zeros((4, 1, 16), np.float32), np.zeros((4, 1, 16), np.float32)) for _ in range(3)]
    before = single([1], cache)
    with torch.no_grad():
        model.norm.weight.mul_(2)
    np.testing.assert_allclose(single([1], cache), 2 * before, rtol=1e-5)


@pytest.mark.parametrize("scale", [1.0, 50.0])
def test_attention_is_that_of_torch(scale: float) -> None:
    q, k, v = (torch.randn(4, length, 16) * scale for length in (1, 30, 30))
    seen = torch.tensor([not 3 <= place < 9 for place in range(30)])
    expected = F.scaled_dot_product_attention(q, k, v, attn_mask=seen.expand(1, 30), scale=1.0)
    mixed = attend(q.squeeze(1).numpy(), k.numpy(), v.numpy(), unseen=slice(3, 9))
    torch.testing.assert_close(torch.from_numpy(mixed), expected.flatten(), atol=1e-4 * scale, rtol=1e-4)


def test_rotation_and_gelu_are_those_of_torch() -> None:
    x, cos, sin = torch.randn(2, 4, 16), torch.randn(16), torch.randn(16)
    turned = rotate(x.numpy(), *(turn.view(2, 8).numpy() for turn in (cos, sin)))
    torch.testing.assert_close(torch.from_numpy(turned), rotate_tensor(x, cos, sin))
    many = torch.linspace(-8, 8, 1001)
    torch.testing.assert_close(torch.from_numpy(gelu(many.numpy())), F.gelu(many))


def test_an_array_is_a_view() -> None:
    tensor = torch.nn.Parameter(torch.zeros(3))
    array(tensor)[1] = 5
    assert tensor.tolist() == [0, 5, 0]


class Louder(Transformer):
    def logits(self, hidden: Tensor) -> Tensor:
        return 2 * super().logits(hidden)


def test_only_the_transformer_as_it_is_fits() -> None:
    model = Transformer(CONFIG)
    assert SingleToken.fits(model)
    assert not SingleToken.fits(to_int8(model))
    assert not SingleToken.fits(Louder(CONFIG))
    assert not SingleToken.fits(model.double())


@pytest.mark.parametrize("first", ["pencil", "numpy"])
def test_it_is_used_if_numpys_threads_make_way(first: str) -> None:
    check = f"import {first}, torch; from pencil.model.single import makes_way; print(makes_way())"
    ours = {"OMP_NUM_THREADS", "OPENBLAS_THREAD_TIMEOUT"}
    env = {name: value for name, value in os.environ.items() if name not in ours}
    answers = [
        subprocess.run([sys.executable, "-c", check], env=env | threads, capture_output=True, text=True, check=True)
        for threads in ({"OMP_NUM_THREADS": "2"}, {"OMP_NUM_THREADS": "1"})
    ]
    assert [answer.stdout.strip() for answer in answers] == [str(first == "pencil"), "True"]
