"""What a model must offer to be run: one call without a cache, and a decoder with one.

The engine knows a model by this shape alone, so the paper's transformer, a compiled program and a scripted fake are
all the same to it.
"""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from torch import Tensor


class Decoder(Protocol):
    """Rows of tokens that a model has read; rows are named by any whole number and join when first fed."""

    def feed(self, rows: Sequence[int], tokens: Sequence[Sequence[int]]) -> Tensor:
        """Append to each row its tokens, one at least; the logits of each row's next token, (rows, V)."""

    def rewind(self, row: int, length: int) -> None:
        """Forget all but the first `length` tokens of a row."""

    def drop(self, row: int) -> None:
        """Forget a row and free its place."""


@runtime_checkable
class GuessingDecoder(Decoder, Protocol):
    """A decoder that reads what may follow before it is said; a wrong guess is rewound."""

    def feed_guesses(
        self, rows: Sequence[int], tokens: Sequence[Sequence[int]], guesses: Sequence[Sequence[int]]
    ) -> Tensor:
        """Append to each row its tokens and then its guess, which may be empty.

        Row by row, the logits after its tokens and after each token of its guess, (rows + guessed tokens, V).
        """


class Model(Protocol):
    """A function from sequences to logits."""

    @property
    def context(self) -> int:
        """The longest sequence it reads."""

    @property
    def vocab_size(self) -> int:
        """How many tokens it knows, numbered from 0."""

    def __call__(self, tokens: Tensor) -> Tensor:
        """(B, T) -> (B, T, V): the definition; the logits at t depend on tokens 0 to t."""

    def decoder(self) -> Decoder:
        """A fresh decoder, without rows."""
