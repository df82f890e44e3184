"""Many rows at once, each thinking, reducing and going on at its own pace; the same events as the reference loop.

A row's tokens are its own: what it draws follows from its seed and index, and no other row's tokens enter its logits.
The logits themselves agree with the reference to the rounding of float32, because a product with another number of rows
may add in another order; so greedy rows say exactly what the reference says, unless two tokens tie to about six digits.
"""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from itertools import accumulate, repeat

from torch import Tensor

from pencil.errors import ConfigError, VocabError
from pencil.generate.events import Event, Reduced, Stopped
from pencil.generate.guess import Guesser
from pencil.generate.limits import DEFAULT_LIMITS, Limits
from pencil.generate.row import Row
from pencil.generate.sample import GREEDY, Choice, Sampling
from pencil.model.protocol import GuessingDecoder, Model
from pencil.tokens import Marks

PREFILL = 256
"""A row reads at most this many tokens a step, so that a long prompt does not hold up the other rows."""
PREFILL_ALONE = 2048
"""As many if there are no others."""

Watch = Callable[[int, Event], None]
"""Called with a row's number and each of its events."""


class Engine:
    """Runs a model under the rule.

    `stream` follows one prompt, `run` answers many; a server builds on `submit`, `step` and `cancel`. Without marks
    nothing is erased: that is a plain chain of thought.
    """

    def __init__(
        self,
        model: Model,
        marks: Marks[int] | None,
        *,
        end: int | None = None,
        rows: int = 32,
        sampling: Sampling = GREEDY,
        limits: Limits = DEFAULT_LIMITS,
        scroll: bool = False,
    ) -> None:
        if rows < 1:
            raise ConfigError(f"rows is {rows}; the engine needs room for at least 1")
        self.model, self.marks, self.end, self.rows, self.scroll = model, marks, end, rows, scroll
        self.sampling, self.limits = sampling, limits
        self._clear()

    def _clear(self) -> None:
        self._guesser = Guesser(never=[self.end, *([self.marks.ret] if self.marks else [])])
        self._waiting: deque[_CachedRow] = deque()
        self._live: dict[int, _CachedRow] = {}
        self._next = 0
        self._forget()

    def _forget(self) -> None:
        """Start with an empty cache; every row is to read all again."""
        self._decoder = self.model.decoder()
        self._ahead = self._decoder if isinstance(self._decoder, GuessingDecoder) else None
        for row in self._live.values():
            row.read = 0

    def stream(self, prompt: Sequence[int]) -> Iterator[Event]:
        """The events of one prompt, as they happen."""
        engine = self._fresh()
        engine.submit(prompt)
        while not engine.idle:
            for _, event in engine.step():
                yield event

    def run(
        self,
        prompts: Sequence[Sequence[int]],
        progress: Watch | None = None,
        limits: Sequence[Limits] | None = None,
    ) -> list[Stopped]:
        """Every prompt to its end, in the order given; `progress` gets each prompt's index and events.

        `limits` are those of each prompt, if they differ.
        """
        engine = self._fresh()
        for index, (prompt, own) in enumerate(zip(prompts, limits or repeat(None, len(prompts)), strict=True)):
            engine.submit(prompt, limits=own, index=index)
        done: dict[int, Stopped] = {}
        while not engine.idle:
            for index, event in engine.step():
                if progress is not None:
                    progress(index, event)
                if isinstance(event, Stopped):
                    done[index] = event
        return [done[index] for index in range(len(prompts))]

    def submit(
        self,
        prompt: Sequence[int],
        *,
        sampling: Sampling | None = None,
        limits: Limits | None = None,
        index: int = 0,
    ) -> int:
        """Add a row, which joins as soon as there is room; its number. Its draws follow from (seed, index)."""
        tokens = self._check(prompt, index)
        number, self._next = self._next, self._next + 1
        row = _CachedRow(
            tokens,
            self.marks,
            self.end,
            self.model.context,
            sampling or self.sampling,
            limits or self.limits,
            index=index,
            scroll=self.scroll,
        )
        row.number = number
        self._waiting.append(row)
        return number

    def _check(self, prompt: Sequence[int], index: int) -> list[int]:
        """The prompt, if the model knows every token of it."""
        known = range(self.model.vocab_size)
        for place, token in enumerate(prompt):
            if not hasattr(token, "__index__") or int(token) not in known:
                expected = f"a whole number from 0 to {len(known) - 1}"
                raise VocabError(f"prompt {index}: found the token {token!r} at place {place}, expected {expected}")
        return [int(token) for token in prompt]

    def cancel(self, number: int) -> Stopped | None:
        """End a row and free its place at once; None if it has ended before."""
        if number in self._live:
            row = self._live[number]
            self._leave(row)
            return row.stop("cancelled")
        for row in self._waiting:
            if row.number == number:
                self._waiting.remove(row)
                return row.stop("cancelled")
        return None

    @property
    def idle(self) -> bool:
        """Whether no row is live or waiting."""
        return not (self._live or self._waiting)

    def step(self) -> list[tuple[int, Event]]:
        """Every live row reads what it has not read yet and says a token or more; rows that wait join."""
        events = self._join()
        rows = list(self._live.values())
        if not rows:
            return events
        numbers, tokens = [row.number for row in rows], [self._unread(row) for row in rows]
        guesses = [self._guess(row) for row in rows]
        try:
            if self._ahead is not None and any(guesses):
                logits = self._ahead.feed_guesses(numbers, tokens, guesses)  # (rows + guessed tokens, V)
            else:
                logits = self._decoder.feed(numbers, tokens)  # (rows, V)
        except BaseException:
            self._forget()  # what has been read is uncertain now
            raise
        return events + self._hear(rows, guesses, logits) + self._look_at_clock(rows)

    def _hear(self, rows: list["_CachedRow"], guesses: list[list[int]], logits: Tensor) -> list[tuple[int, Event]]:
        """Every row that has read all says a token, and another one as long as it says what was guessed."""
        places = accumulate((1 + len(guess) for guess in guesses), initial=0)
        talking = [said for said in zip(rows, places, map(iter, guesses), strict=False) if said[0].caught_up]
        events: list[tuple[int, Event]] = []
        choice = Choice(logits)
        while talking:
            tokens = choice.pick([place for _, place, _ in talking], [row.sampler for row, _, _ in talking])
            going_on = []
            for (row, place, guess), token in zip(talking, tokens, strict=True):
                events.extend((row.number, event) for event in self._take(row, token))
                if token == next(guess, None) and row.stopped is None:
                    going_on.append((row, place + 1, guess))
            talking = going_on
        return events

    def _look_at_clock(self, rows: list["_CachedRow"]) -> list[tuple[int, Event]]:
        """A row may run out of time before it has read all."""
        events: list[tuple[int, Event]] = []
        for row in rows:
            if row.stopped is None and not row.caught_up and row.late:
                self._leave(row)
                events.append((row.number, row.stop("seconds")))
        return events

    def _take(self, row: "_CachedRow", token: int) -> list[Event]:
        """A row says a token; the cache forgets what the rule erased."""
        events = row.take(token)
        if row.stopped is not None:
            self._leave(row)
        elif len(events) > 1 and isinstance(events[1], Reduced):
            self._rewind(row, max(0, events[1].reduction.kept - row.origin))
        elif self._ahead is not None:
            self._guesser.learn(row.context)
        return events

    def _unread(self, row: "_CachedRow") -> list[int]:
        """The next tokens for a row to read; always one at least, for the logits after the last token.

        After a reduction that is A, at its new place. After one without an answer, it is the last token of C again.
        """
        if row.origin != row.first:  # the window has moved, and with it the position of every token
            row.origin = row.first
            self._rewind(row, 0)
        visible = len(row.context) - row.origin
        self._rewind(row, visible - 1)
        start = row.origin + row.read
        tokens = row.context[start : start + (PREFILL if len(self._live) > 1 else PREFILL_ALONE)]
        row.read += len(tokens)
        return tokens

    def _guess(self, row: "_CachedRow") -> list[int]:
        """What a row may say next, to be read along with its last token."""
        if self._ahead is None or not row.caught_up:
            return []
        guess = self._guesser.guess(row.context, row.window - len(row.context))
        row.read += len(guess)
        return guess

    def _rewind(self, row: "_CachedRow", length: int) -> None:
        if length < row.read:
            self._decoder.rewind(row.number, length)
            row.read = length

    def _join(self) -> list[tuple[int, Event]]:
        events: list[tuple[int, Event]] = []
        while self._waiting and len(self._live) < self.rows:
            row = self._waiting.popleft()
            events.extend((row.number, event) for event in row.open())
            if row.stopped is None:
                self._live[row.number] = row
                if self._ahead is not None:
                    self._guesser.learn_all(row.context)
        return events

    def _leave(self, row: "_CachedRow") -> None:
        del self._live[row.number]
        self._decoder.drop(row.number)

    def _fresh(self) -> "Engine":
        """This engine without rows, for one call of its own, so that streams and runs never mix."""
        engine = copy(self)
        engine._clear()
        return engine


class _CachedRow(Row):
    """A row, and how much of it the decoder holds."""

    number = 0
    origin = 0
    """Which token of the sequence stands at position 0: beyond the window, not the first."""
    read = 0
    """How many tokens from there on the decoder has read, guesses included."""

    @property
    def caught_up(self) -> bool:
        """Whether the last token has been read."""
        return self.origin + self.read >= len(self.context)
