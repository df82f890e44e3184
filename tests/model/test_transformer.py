import torch
from torch import Tensor

from pencil.model.transformer import ModelConfig, Transformer, causal, rotate, rotations

CONFIG = ModelConfig(vocab_size=11, n_layers=2, d_model=32, n_heads=4, context=50)
TOKENS = torch.tensor([[1, 2, 3, 4, 5, 6], [7, 8, 9, 10, 0, 1]])


def test_shapes() -> None:
    model = Transformer(CONFIG)
    assert model(TOKENS).shape == (2, 6, 11)
    assert model.hidden(TOKENS).shape == (2, 6, 32)
    assert model.context == 50


def test_a_token_sees_only_what_precedes_it() -> None:
    model = Transformer(CONFIG)
    changed = TOKENS.clone()
    changed[:, 4] = 2
    before, after = model(TOKENS), model(changed)
    torch.testing.assert_close(before[:, :4], after[:, :4])
    assert (before[:, 4:] - after[:, 4:]).abs().amax(-1).min() > 1e-4


def test_attention_depends_on_distance_alone() -> None:
    model = Transformer(CONFIG)
    shifted = model(TOKENS, positions=torch.arange(30, 36))
    torch.testing.assert_close(shifted, model(TOKENS), atol=1e-5, rtol=1e-5)
    stretched = model(TOKENS, positions=torch.arange(0, 12, 2))
    assert (stretched - model(TOKENS)).abs().max() > 1e-5


def test_the_rotation_is_the_textbook_one() -> None:
    """Pairs (i, i + E/2) as complex numbers, turned by position * base^(-2i/E)."""
    cos, sin = rotations(CONFIG)
    x = torch.randn(50, 2, 4, 8)
    pairs = torch.complex(x[..., :4], x[..., 4:])
    angles = torch.arange(50)[:, None] * 10_000.0 ** -(torch.arange(4) / 4)
    turned = pairs * torch.polar(torch.ones(()), angles)[:, None, None]
    torch.testing.assert_close(rotate(x, cos, sin), torch.cat((turned.real, turned.imag), -1), atol=1e-5, rtol=1e-5)


def test_a_caller_may_bring_its_own_attention() -> None:
    """One flat sequence that holds two, told apart by positions and by who sees whom."""
    model = Transformer(CONFIG)
    layers = []

    def apart(layer: int, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        layers.append(layer)
        assert q.shape == k.shape == v.shape == (12, 4, 8)
        parts = (causal(layer, *(tensor[None, half] for tensor in (q, k, v)))[0] for half in (slice(6), slice(6, 12)))
        return torch.cat(list(parts))

    flat = model(TOKENS.flatten(), torch.arange(6).repeat(2), apart)
    torch.testing.assert_close(flat.view(2, 6, 11), model(TOKENS))
    assert layers == [0, 1]


def test_the_seed_decides_the_weights() -> None:
    first, same, other = (Transformer(CONFIG, seed).state_dict() for seed in (1, 1, 2))
    assert all(torch.equal(first[name], same[name]) for name in first)
    assert not torch.equal(first["embedding.weight"], other["embedding.weight"])


def test_there_are_no_biases_and_the_embedding_is_tied() -> None:
    names = [name for name, _ in Transformer(CONFIG).named_parameters()]
    assert all(name.endswith("weight") for name in names)
    assert len(names) == 2 + 6 * CONFIG.n_layers


def test_gradients_reach_every_weight() -> None:
    model = Transformer(CONFIG)
    model(TOKENS).logsumexp(-1).sum().backward()
    assert all(weight.grad is not None and weight.grad.abs().sum() > 0 for weight in model.parameters())
