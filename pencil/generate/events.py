"""What happens while a model thinks: one stream of events for the terminal, evaluation and servers alike."""

from dataclasses import dataclass
from typing import Literal

from pencil.rule import Reduction

Reason = Literal["end", "tokens", "context", "depth", "seconds", "repetition", "empty", "cancelled"]
"""Why a row stopped: `end` is the model's own end token, `empty` a sequence with nothing left to continue."""


@dataclass(frozen=True)
class Token:
    """The model said this token; a `[RETURN]` that matches is said, but never read back."""

    id: int


@dataclass(frozen=True)
class Reduced:
    """The rule applied: a thought is gone, its answer stays."""

    reduction: Reduction[int]


@dataclass(frozen=True)
class Stopped:
    """The row is done; with any reason, this is all that it came to."""

    reason: Reason
    context: tuple[int, ...]
    """The live sequence at the end."""
    start: int
    """Where the model's own tokens start in it."""
    generated: int
    """How many tokens the model said, erased ones included."""
    peak: int
    reductions: int
    unmatched: int
    """How often a `[RETURN]` matched nothing."""
    depth: int
    """The most calls open at once."""
    seconds: float

    @property
    def response(self) -> tuple[int, ...]:
        """What is left of all that the model said."""
        return self.context[self.start :]


Event = Token | Reduced | Stopped
