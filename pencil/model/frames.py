"""How far up the stack of open calls the attention of a word reaches.

A frame starts with a `[CALL]` and ends before the next one; a word that sees two frames sees what its own call has
written and what was live in the call around it when it began. Since a live sequence holds the frames one after the
other, what a word sees starts at some `[CALL]` and ends with the word itself. It may also see the outermost frame: what
comes before the first open call, such as the problem. In a chain of thought a `[RETURN]` closes the last open call,
whose words then belong to the frame around it.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from pencil.tokens import Vocab

MARKS = Vocab(()).marks
"""The same in every vocabulary."""

Calls = tuple[int, ...]
"""The positions of open calls, the outermost first."""


class Seen(NamedTuple):
    """The positions that a word sees: those before one, and those from another one up to its own."""

    outer: int
    start: int

    @property
    def first(self) -> int:
        """The first of them."""
        return 0 if self.outer else self.start


def in_sight(positions: Any, outer: Any, start: Any) -> Any:
    """Which positions, none of them a later one, are seen by words that see these; arrays or tensors that broadcast."""
    return (positions < outer) | (positions >= start)


def calls_after(token: int, position: int, calls: Calls) -> Calls:
    """The open calls after one more token."""
    if token == MARKS.call:
        return (*calls, position)
    return calls[:-1] if token == MARKS.ret else calls


def seen_with(calls: Calls, frames: int, outermost: bool) -> Seen:
    """What is seen where these calls are open: so many frames, of which 0 means all, and maybe the outermost one.

    >>> seen_with((3, 5, 9), frames=2, outermost=True)
    Seen(outer=3, start=5)
    """
    start = calls[-frames] if 0 < frames <= len(calls) else 0
    return Seen(calls[0] if outermost and start else 0, start)


def find_seen(tokens: Sequence[int], frames: int, outermost: bool = False, since: int = 0) -> list[Seen]:
    """For each token of a sequence from a place on, what it sees.

    >>> call, ret = MARKS.call, MARKS.ret
    >>> [seen.start for seen in find_seen([9, call, 7, call, 8, call, 6], frames=2)]
    [0, 0, 0, 1, 1, 3, 3]
    >>> find_seen([9, call, 7, call, 8, ret, 6], frames=1, outermost=True, since=4)
    [Seen(outer=1, start=3), Seen(outer=1, start=1), Seen(outer=1, start=1)]
    """
    if not frames:
        return [Seen(0, 0)] * (len(tokens) - since)
    calls, seen = _open_calls(tokens, since), []
    for position in range(since, len(tokens)):
        calls = calls_after(tokens[position], position, calls)
        seen.append(seen_with(calls, frames, outermost))
    return seen


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


def sees(tokens: Tensor, frames: int, outermost: bool = False) -> Tensor:
    """(..., T) sequences from their start -> (..., T, T): which token sees which."""
    rows = tokens.reshape(-1, tokens.shape[-1]).tolist()
    outer, start = torch.tensor([find_seen(row, frames, outermost) for row in rows]).unsqueeze(-1).unbind(-2)
    here = torch.arange(tokens.shape[-1])
    seen: Tensor = (here <= here[:, None]) & in_sight(here, outer, start)
    return seen.view(*tokens.shape, -1).to(tokens.device)
