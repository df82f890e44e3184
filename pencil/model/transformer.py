"""The paper's model: a decoder with rotary positions, pre-LayerNorm and tied embeddings.

Shapes in comments: B sequences, T tokens, D model width, H heads of width E = D / H, V words. Where a comment says
(..., D), any shape of tokens will do: (B, T) in training, or a flat (N,) when rows of unequal length are fed at once.

The model does not know which tokens may see which. Its caller says so with `attend(layer, q, k, v)`, which gets
queries, keys and values (..., H, E), already rotated to their positions, and returns the mixed values (..., H, E).
Where words know their surroundings, a caller with positions of its own says what these are, too: `around`.
Causal attention, as far as the frames of a config reach, is the default; a cache (`pencil/model/decode.py`) or packed
training brings its own.
"""

from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from pencil.model.config import ModelConfig as ModelConfig  # also known by this name here
from pencil.model.frames import sees
from pencil.model.surroundings import Surroundings, find_rows

if TYPE_CHECKING:
    from pencil.model.decode import CachedDecoder

Attend = Callable[[int, Tensor, Tensor, Tensor], Tensor]
"""(layer, q, k, v), each of q, k, v (..., H, E) -> mixed values (..., H, E)."""
TABLES = ("embedding.weight", "surroundings.weight")
"""Parameters whose rows are looked up; the other matrices multiply."""
EMBEDDING_SIZE = 0.5
"""Deviation of the first embeddings: as large as what the first layers add to them."""


class Transformer(nn.Module):
    """Tokens in, logits of the next token out."""

    cos: Tensor
    sin: Tensor

    def __init__(self, config: ModelConfig, seed: int = 0) -> None:
        super().__init__()
        self.config = config
        self.embedding = nn.Embedding(config.vocab_size, config.d_model)  # also the output layer: tied
        self.surroundings = Surroundings(config) if config.surroundings else None
        self.blocks = nn.ModuleList(Block(config, layer) for layer in range(config.n_layers))
        self.norm = nn.LayerNorm(config.d_model, bias=False)
        cos, sin = rotations(config)
        self.register_buffer("cos", cos, persistent=False)
        self.register_buffer("sin", sin, persistent=False)
        self._initialise(torch.Generator().manual_seed(seed))

    def forward(self, tokens: Tensor, positions: Tensor | None = None, attend: Attend | None = None) -> Tensor:
        """(..., T) tokens -> (..., T, V) logits; positions count from 0 along T unless given."""
        return self.logits(self.hidden(tokens, positions, attend))

    def hidden(
        self,
        tokens: Tensor,
        positions: Tensor | None = None,
        attend: Attend | None = None,
        blocks: Iterable[Callable[[Tensor, Tensor, Tensor, Attend], Tensor]] | None = None,
        around: Tensor | None = None,
    ) -> Tensor:
        """(..., T) -> (..., T, D): all but the output layer; `blocks` may stand in for the model's own.

        `around` is what each token knows of its surroundings, as `find_rows` finds it in a sequence from its start.
        """
        if positions is None:
            positions = torch.arange(tokens.shape[-1], device=tokens.device)
        elif around is None and self.surroundings is not None:
            raise ValueError("tokens have positions of their own; say what is around them")
        cos, sin = self.cos[positions], self.sin[positions]  # (..., 1, 1, E), broadcast over q and k, and over heads
        x = self.embed(tokens, around)  # (..., D)
        attend = attend or self._attend_within(tokens)
        for block in blocks or self.blocks:
            x = block(x, cos, sin, attend)
        return self.norm(x)  # type: ignore[no-any-return]

    def embed(self, tokens: Tensor, around: Tensor | None = None) -> Tensor:
        """(..., T) -> (..., T, D): what the first layer reads."""
        x: Tensor = self.embedding(tokens)
        if self.surroundings is not None:
            x = x + self.surroundings(find_rows(tokens, self.config) if around is None else around)
        return x

    def _attend_within(self, tokens: Tensor) -> Attend:
        """Each of (..., T) tokens sees itself and those before it, as far as its frames reach."""
        frames, outermost = self.config.frames, self.config.outermost
        return partial(causal, mask=sees(tokens, frames, outermost).unsqueeze(-3)) if frames else causal

    def logits(self, hidden: Tensor) -> Tensor:
        """(..., D) -> (..., V)."""
        return F.linear(hidden, self.embedding.weight)

    def decoder(self) -> "CachedDecoder":
        """An empty cache that decodes with these weights."""
        from pencil.model.decode import CachedDecoder  # which needs this module

        return CachedDecoder(self)

    @property
    def context(self) -> int:
        """The longest sequence it reads."""
        return self.config.context

    @property
    def vocab_size(self) -> int:
        """How many tokens it knows."""
        return self.config.vocab_size

    @property
    def parameter_count(self) -> int:
        """How many numbers are learned; the tied embedding counts once."""
        return sum(parameter.numel() for parameter in self.parameters())

    @torch.no_grad()
    def _initialise(self, generator: torch.Generator) -> None:
        """Each matrix keeps the size of what it reads, whatever its width, and the first logits are about 1."""
        for name, parameter in self.named_parameters():
            if parameter.ndim == 2 and name not in TABLES:
                parameter.normal_(0.0, parameter.shape[1] ** -0.5, generator=generator)
        self.embedding.weight.normal_(0.0, EMBEDDING_SIZE, generator=generator)
        if self.surroundings is not None:
            self.surroundings.initialise(generator)
        self.norm.weight.fill_(self.config.d_model**-0.5 / EMBEDDING_SIZE)


class Block(nn.Module):
    """One layer: attention, then the MLP, each added to the residual stream."""

    def __init__(self, config: ModelConfig, layer: int) -> None:
        super().__init__()
        width = config.d_model
        self.layer = layer
        self.heads = (config.n_heads, config.head_width)
        self.attention_norm = nn.LayerNorm(width, bias=False)
        self.qkv = nn.Linear(width, 3 * width, bias=False)
        self.out = nn.Linear(width, width, bias=False)
        self.mlp_norm = nn.LayerNorm(width, bias=False)
        self.up = nn.Linear(width, 4 * width, bias=False)
        self.down = nn.Linear(4 * width, width, bias=False)

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor, attend: Attend) -> Tensor:
        """(..., D) -> (..., D)."""
        return apply_layer(self, x, cos, sin, attend)


def apply_layer(parts: Any, x: Tensor, cos: Tensor, sin: Tensor, attend: Attend) -> Tensor:
    """What a block computes from its parts, be they modules or, for decoding, plain functions."""
    qkv = parts.qkv(parts.attention_norm(x))  # (..., 3D)
    return finish(parts, x, attend(parts.layer, *split_heads(parts, qkv, cos, sin)))


def split_heads(parts: Any, qkv: Tensor, cos: Tensor, sin: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """(..., 3D) -> queries and keys, rotated to their positions, and values, each (..., H, E)."""
    qkv = qkv.view(*qkv.shape[:-1], 3, *parts.heads)
    qk, v = qkv.split((2, 1), -3)  # type: ignore[no-untyped-call]  # (..., 2, H, E) and (..., 1, H, E)
    q, k = rotate(qk, cos, sin).unbind(-3)
    return q, k, v.squeeze(-3)


def finish(parts: Any, x: Tensor, mixed: Tensor) -> Tensor:
    """(..., D) and mixed values (..., H, E) -> (..., D): the part of a block after attention."""
    x = x + parts.out(mixed.flatten(-2))
    return x + parts.down(F.gelu(parts.up(parts.mlp_norm(x))))  # type: ignore[no-any-return]


def causal(layer: int, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> Tensor:
    """Each token sees itself and those before it, or what a mask (B, 1, T, T) says; (B, T, H, E) each."""
    q, k, v = (tensor.transpose(-3, -2) for tensor in (q, k, v))  # (B, H, T, E)
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask, is_causal=mask is None).transpose(-3, -2)


def rotations(config: ModelConfig) -> tuple[Tensor, Tensor]:
    """The rotary cosines and sines of every position, (context, 1, 1, E) each, the sine's first half negated."""
    exponents = torch.arange(0, config.head_width, 2).float() / config.head_width
    frequencies = 1.0 / config.rope_base**exponents  # (E/2,)
    angles = torch.outer(torch.arange(config.context).float(), frequencies)[:, None, None]
    cos, sin = angles.cos(), angles.sin()
    return torch.cat((cos, cos), -1), torch.cat((-sin, sin), -1)


def rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Turn the pairs (x[i], x[i + E/2]) of each head by the angle of its position."""
    return torch.addcmul(x * cos, x.roll(x.shape[-1] // 2, -1), sin)
