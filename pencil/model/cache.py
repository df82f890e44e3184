"""Keys and values of many rows, preallocated; forgetting the end of a row moves nothing."""

import torch
from torch import Tensor

from pencil.model.transformer import ModelConfig

CHUNK = 64
"""The cache grows by whole chunks of this many tokens."""


class KVCache:
    """Each row's keys and values in a slot of its own; slots stay dense, so a batch is one view of them.

    Memory follows the most rows held at once times the longest row so far, whatever was erased in between.
    """

    def __init__(self, config: ModelConfig, device: torch.device | None = None) -> None:
        self.config, self.device = config, device
        self.rows: list[int] = []  # slot -> row
        self.tokens: list[list[int]] = []  # slot -> tokens held
        self._slots: dict[int, int] = {}  # row -> slot
        self.capacity = (0, 0)  # slots, tokens
        self.layers: list[tuple[Tensor, Tensor]] = []  # keys and values, (slots, H, tokens, E) each
        self._allocate(0, 0)

    @property
    def lengths(self) -> list[int]:
        """How many tokens each slot holds."""
        return [len(tokens) for tokens in self.tokens]

    def slot(self, row: int) -> int:
        """The slot of a row, which joins at the end if it is new."""
        if row not in self._slots:
            self._slots[row] = len(self.rows)
            self.rows.append(row)
            self.tokens.append([])
        return self._slots[row]

    def rewind(self, row: int, length: int) -> None:
        """Keep only the first `length` tokens of a row."""
        held = self.tokens[self._slots[row]]
        if not 0 <= length <= len(held):
            raise ValueError(f"row {row} holds {len(held)} tokens and cannot be rewound to {length}")
        del held[length:]

    def drop(self, row: int) -> None:
        """Free a row's slot; the last slot moves into the hole."""
        hole, last, moved = self._slots.pop(row), len(self.rows) - 1, self.rows[-1]
        if hole != last:
            length = len(self.tokens[last])
            for tensor in self._tensors():
                tensor[hole, :, :length] = tensor[last, :, :length]
            self.rows[hole], self.tokens[hole], self._slots[moved] = moved, self.tokens[last], hole
        self.rows.pop()
        self.tokens.pop()

    def reserve(self, length: int) -> None:
        """Make room for every row at this length."""
        slots, tokens = self.capacity
        if len(self.rows) > slots or length > tokens:
            if length > tokens:
                chunks = -(-max(length, tokens * 5 // 4) // CHUNK)
                tokens = max(length, min(chunks * CHUNK, self.config.context))
            self._allocate(max(slots, len(self.rows)), tokens)

    def places(self, slots: Tensor, positions: Tensor) -> Tensor:
        """(N,) slots and positions -> (N * H,), where `store` puts the heads of these tokens."""
        heads = torch.arange(self.config.n_heads, device=self.device)
        return ((slots[:, None] * self.config.n_heads + heads) * self.capacity[1] + positions[:, None]).flatten()

    def store(self, layer: int, places: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """Put the (N, H, E) keys and values of a layer in their places; all keys and values of that layer."""
        width = self.config.head_width
        for tensor, new in zip(self.layers[layer], (k, v), strict=True):
            tensor.view(-1, width).index_copy_(0, places, new.reshape(-1, width))
        return self.layers[layer]

    @property
    def bytes(self) -> int:
        """The memory held."""
        return sum(tensor.nbytes for tensor in self._tensors())

    def _tensors(self) -> list[Tensor]:
        return [tensor for layer in self.layers for tensor in layer]

    def _allocate(self, slots: int, tokens: int) -> None:
        """Move to larger tensors, layer by layer, so that little is held twice; zeros, since padding must be finite."""
        config = self.config
        shape = (slots, config.n_heads, tokens, config.head_width)
        self.layers = self.layers or [(torch.empty(0, config.n_heads, 0, config.head_width),) * 2] * config.n_layers
        for index, layer in enumerate(self.layers):
            new = torch.zeros(shape, device=self.device), torch.zeros(shape, device=self.device)
            for old, grown in zip(layer, new, strict=True):
                grown[: old.shape[0], :, : old.shape[2]] = old
            self.layers[index] = new
        self.capacity = (slots, tokens)
