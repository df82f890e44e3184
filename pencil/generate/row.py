"""One prompt's way through generation: its live sequence, its limits and its events, whatever computes the logits."""

import math
import time
from collections.abc import Sequence

from pencil.generate.events import Event, Reason, Reduced, Stopped, Token
from pencil.generate.limits import Limits, Repetition
from pencil.generate.sample import Sampler, Sampling
from pencil.rule import Context
from pencil.tokens import Marks

NOTHING: Marks[int] = Marks(-1, -2, -3)
"""Marks that no model says: nothing is ever erased."""


class Row:
    """A prompt and what the model makes of it; `take` each token it says, until `stopped`."""

    def __init__(
        self,
        prompt: Sequence[int],
        marks: Marks[int] | None,
        end: int | None,
        window: int,
        sampling: Sampling,
        limits: Limits,
        *,
        index: int = 0,
        scroll: bool = False,
    ) -> None:
        self.context: Context[int] = Context(prompt, marks or NOTHING, scroll=scroll)
        self.sampler = Sampler(sampling, index)
        self.end, self.limits = end, limits
        self.window = min(window, limits.context or window)
        self.start = len(prompt)
        self.generated = 0
        self.began = math.inf
        self.stopped: Stopped | None = None
        self._repetition = Repetition(limits.repeats) if limits.repeats else None

    @property
    def first(self) -> int:
        """The first token the model reads: beyond the window, only the last tokens count."""
        return max(0, len(self.context) - self.window)

    def open(self) -> list[Event]:
        """Start the clock; a prompt that is over a limit, or empty, stops at once."""
        self.began = time.monotonic()
        return self._stop_if(self._over())

    def take(self, token: int) -> list[Event]:
        """The model said this token: what happens."""
        self.generated += 1
        events: list[Event] = [Token(token)]
        reduction = self.context.append(token)
        if reduction is not None:
            self.start = min(self.start, reduction.kept)  # a call that the prompt opened may return
            events.append(Reduced(reduction))
        repeated = self._repetition is not None and self._repetition.add(token)
        reason: Reason | None = "end" if token == self.end else "repetition" if repeated else self._over()
        return events + self._stop_if(reason)

    def stop(self, reason: Reason) -> Stopped:
        """End the row here."""
        context = self.context
        self.stopped = Stopped(
            reason=reason,
            context=tuple(context),
            start=self.start,
            generated=self.generated,
            peak=context.peak,
            reductions=context.reductions,
            unmatched=context.unmatched,
            depth=context.max_depth,
            seconds=self._seconds,
        )
        return self.stopped

    def _stop_if(self, reason: Reason | None) -> list[Event]:
        return [] if reason is None else [self.stop(reason)]

    def _over(self) -> Reason | None:
        """The limit that has been reached, if any."""
        limits = self.limits
        if not len(self.context):
            return "empty"
        if limits.tokens is not None and self.generated >= limits.tokens:
            return "tokens"
        if limits.overflow == "stop" and len(self.context) > self.window:
            return "context"
        if limits.depth is not None and self.context.depth > limits.depth:
            return "depth"
        return "seconds" if self.late else None

    @property
    def late(self) -> bool:
        """Whether its time is over."""
        return self.limits.seconds is not None and self._seconds >= self.limits.seconds

    @property
    def _seconds(self) -> float:
        """Since the clock started, if it has."""
        return max(0.0, time.monotonic() - self.began)
