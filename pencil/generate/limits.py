"""When to stop a row that does not end by itself."""

from dataclasses import dataclass
from typing import Literal

from pencil.errors import ConfigError


@dataclass(frozen=True)
class Limits:
    """Each limit stops a row with a reason of that name; None means no limit."""

    tokens: int | None = 200_000
    """Tokens generated, erased ones included."""
    context: int | None = None
    """The window: the longest sequence the model reads; at most, and by default, the model's own."""
    overflow: Literal["stop", "truncate"] = "stop"
    """What to do beyond the window: stop, or read only the last tokens that fit (paper, section 4).

    Truncated, the whole window is read again for each token, as every token in it has moved.
    """
    depth: int | None = None
    """Calls open at once."""
    seconds: float | None = None
    """Time since the row got its place."""
    repeats: int | None = None
    """Stop when the last tokens generated are this many copies of one stretch of up to 64 tokens."""

    def __post_init__(self) -> None:
        for name, least in (("tokens", 1), ("context", 1), ("depth", 0), ("seconds", 0), ("repeats", 2)):
            value, kind = getattr(self, name), int | float if name == "seconds" else int
            if value is not None and not (isinstance(value, kind) and value >= least):
                raise ConfigError(f"the limit on {name} is {value}; try {least} or more, or None for no limit")
        if self.overflow not in ("stop", "truncate"):
            raise ConfigError(f"overflow is {self.overflow!r}; try 'stop' or 'truncate'")


DEFAULT_LIMITS = Limits()


class Repetition:
    """Finds a model that says the same stretch again and again, erased or not.

    >>> detector = Repetition(copies=3, longest=4)
    >>> [detector.add(token) for token in (9, 1, 2, 1, 2, 1, 2, 7)]
    [False, False, False, False, False, False, True, False]
    """

    def __init__(self, copies: int, longest: int = 64) -> None:
        self.copies, self.longest = copies, longest
        self._tail: list[int] = []  # the last tokens, trimmed now and then

    def add(self, token: int) -> bool:
        """Note a token; whether the tail is now `copies` copies of one stretch."""
        tail, copies = self._tail, self.copies
        tail.append(token)
        enough = copies * self.longest
        if len(tail) >= 2 * enough:
            del tail[:-enough]
        # A stretch of p tokens repeats where the tail equals itself p tokens earlier; most p fail on the last token.
        return any(
            tail[-1 - p] == token and tail[-p * (copies - 1) :] == tail[-p * copies : -p]
            for p in range(1, min(self.longest, len(tail) // copies) + 1)
        )
