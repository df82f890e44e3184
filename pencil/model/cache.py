"""Keys and values of many rows, preallocated; forgetting the end of a row is a counter."""

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
        self.config = config
        self.rows: list[int] = []  # slot -> row
        self.lengths: list[int] = []  # slot -> tokens held
        self._slots: dict[int, int] = {}  # row -> slot
        empty = torch.empty(2, 0, config.n_heads, 0, config.head_width, device=device)
        self.layers: list[Tensor] = [empty] * config.n_layers  # keys and values, (2, slots, H, tokens, E)

    def slot(self, row: int) -> int:
        """The slot of a row, which joins at the end if it is new."""
        if row not in self._slots:
            self._slots[row] = len(self.rows)
            self.rows.append(row)
            self.lengths.append(0)
        return self._slots[row]

    def rewind(self, row: int, length: int) -> None:
        """Keep only the first `length` tokens of a row."""
        held = self.lengths[self._slots[row]]
        if not 0 <= length <= held:
            raise ValueError(f"row {row} holds {held} tokens and cannot be rewound to {length}")
        self.lengths[self._slots[row]] = length

    def drop(self, row: int) -> None:
        """Free a row's slot; the last slot moves into the hole."""
        hole, last, moved = self._slots.pop(row), len(self.rows) - 1, self.rows[-1]
        if hole != last:
            length = self.lengths[last]
            for layer in self.layers:
                layer[:, hole, :, :length] = layer[:, last, :, :length]
            self.rows[hole], self.lengths[hole], self._slots[moved] = moved, length, hole
        self.rows.pop()
        self.lengths.pop()

    def reserve(self, length: int) -> None:
        """Make room for every row at this length; layer by layer, so that little is held twice."""
        _, slots, heads, tokens, width = self.layers[0].shape
        if len(self.rows) <= slots and length <= tokens:
            return
        slots = max(slots, len(self.rows))
        if length > tokens:
            chunks = -(-max(length, tokens * 5 // 4) // CHUNK)
            tokens = max(length, min(chunks * CHUNK, self.config.context))
        for index, old in enumerate(self.layers):
            new = old.new_zeros(2, slots, heads, tokens, width)  # padding must be finite: it is masked, not skipped
            new[:, : old.shape[1], :, : old.shape[3]] = old
            self.layers[index] = new

    @property
    def bytes(self) -> int:
        """The memory held."""
        return sum(layer.nbytes for layer in self.layers)
