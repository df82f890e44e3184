"""How far up the stack of open calls the attention of a word reaches.

A frame starts with a `[CALL]` and ends before the next one; a word that sees two frames sees what its own call has
written and what was live in the call around it when it began. Since a live sequence holds the frames one after the
other, what a word sees starts at some `[CALL]` and ends with the word itself. In a chain of thought a `[RETURN]` closes
the last open call, whose words then belong to the frame around it.
"""

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from pencil.tokens import Vocab

MARKS = Vocab(()).marks
"""The same in every vocabulary."""

Calls = tuple[int, ...]
"""The positions of open calls, the outermost first."""


def calls_after(token: int, position: int, calls: Calls) -> Calls:
    """The open calls after one more token."""
    if token == MARKS.call:
        return (*calls, position)
    return calls[:-1] if token == MARKS.ret else calls


def start_of(calls: Calls, frames: int) -> int:
    """Where so many frames start; 0 of them means all."""
    return calls[-frames] if 0 < frames <= len(calls) else 0


def first_seen(tokens: Sequence[int], frames: int, since: int = 0) -> list[int]:
    """For each token of a sequence from a place on, the position of the first one that it sees.

    >>> call, ret = MARKS.call, MARKS.ret
    >>> first_seen([9, call, 7, call, 8, call, 6], frames=2)
    [0, 0, 0, 1, 1, 3, 3]
    >>> first_seen([9, call, 7, call, 8, ret, 6], frames=1, since=4)
    [3, 1, 1]
    """
    if not frames:
        return [0] * (len(tokens) - since)
    calls = _open_calls(tokens, since)
    starts = []
    for position in range(since, len(tokens)):
        calls = calls_after(tokens[position], position, calls)
        starts.append(start_of(calls, frames))
    return starts


def _open_calls(tokens: Sequence[int], end: int) -> Calls:
    """Those before a place; a live sequence has few, and none that has returned."""
    calls: Calls = ()
    for position in sorted((*_places(tokens, MARKS.call, end), *_places(tokens, MARKS.ret, end))):
        calls = calls_after(tokens[position], position, calls)
    return calls


def _places(tokens: Sequence[int], token: int, end: int) -> Iterator[int]:
    """Where a token stands before a place, found faster than by a loop."""
    at = -1
    while True:
        try:
            at = tokens.index(token, at + 1, end)
        except ValueError:
            return
        yield at


def sees(tokens: Tensor, frames: int) -> Tensor:
    """(..., T) sequences from their start -> (..., T, T): which token sees which."""
    starts = torch.tensor([first_seen(row, frames) for row in tokens.reshape(-1, tokens.shape[-1]).tolist()])
    here = torch.arange(tokens.shape[-1])
    seen = (here <= here[:, None]) & (here >= starts.unsqueeze(-1))
    return seen.view(*tokens.shape, -1).to(tokens.device)
