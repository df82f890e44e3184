"""Writing traces as one writes a recursive function, and measuring them.

>>> write = TraceWriter()
>>> def total(numbers):
...     with write.call():
...         write("sum", *numbers)
...         result = numbers[0] if len(numbers) == 1 else str(int(numbers[0]) + int(total(numbers[1:])))
...         write.answer("=", result)
...     return result
>>> total(["1", "2"])
'3'
>>> " ".join(write.words)
'[CALL] sum 1 2 [CALL] sum 2 [SEP] = 2 [RETURN] [SEP] = 3 [RETURN]'
>>> trace = Trace(("<|startoftext|>",), tuple(write.words))
>>> trace.final
['=', '3']
>>> trace.stats().peak
12
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any, Generic

from pencil.errors import TraceError
from pencil.rule import Context, Segment, Step, replay, segments
from pencil.tokens import CALL, RETURN, SEP, WORD_MARKS, Marks, TokenT

_WORDS: Any = WORD_MARKS
LIMIT = 20_000_000
"""A trace that grows beyond this many words is given up: some instances take exponential time."""


class TraceWriter:
    """Collects a trace; `call`, `answer` and `tail_call` bring the marks, so that no reasoner types them."""

    def __init__(self, limit: int = LIMIT) -> None:
        self.words: list[str] = []
        self.limit = limit
        self._answered: list[bool] = []  # one entry for each open call

    def __call__(self, *words: str) -> None:
        """Think: write words as they are."""
        self.words.extend(words)

    def extend(self, words: Iterable[str]) -> None:
        """Think many words at once."""
        self.words.extend(words)

    @contextmanager
    def call(self) -> Iterator[None]:
        """A thought that will be erased: `[CALL]` at the start of the block, `[RETURN]` at its end."""
        if len(self.words) > self.limit:
            raise TraceError(f"the trace is longer than {self.limit:,} words; this instance is too hard to reason out")
        self.words.append(CALL)
        self._answered.append(False)
        yield
        if not self._answered.pop():
            self.words.append(SEP)
        self.words.append(RETURN)

    def answer(self, *words: str) -> None:
        """What stays of the current call: `[SEP]`, then these words."""
        self._require_unanswered_call("answer")
        self._answered[-1] = True
        self.words.append(SEP)
        self.words.extend(words)

    @contextmanager
    def tail_call(self) -> Iterator[None]:
        """Tail recursion: what the block writes replaces the thought of the current call, which stays open.

        `C [CALL] T [SEP] [CALL] T' [RETURN]  =>  C [CALL] T'` (paper, section 3.2).
        """
        self._require_unanswered_call("tail_call")
        self.words.extend((SEP, CALL))
        yield
        self.words.append(RETURN)

    def _require_unanswered_call(self, what: str) -> None:
        if not self._answered:
            raise TraceError(f"{what}() was used outside of any call; open one with `with write.call():`")
        if self._answered[-1]:
            raise TraceError(f"{what}() was used after this call's answer; a call answers once")


@dataclass(frozen=True)
class Stats:
    """The sizes of one trace."""

    tokens: int
    """Prompt and everything generated: what a chain of thought would hold."""
    peak: int
    """The longest live sequence under the rule."""
    reductions: int
    unmatched: int
    depth: int
    """The most calls open at once."""
    cost_pencil: int
    """Attention cost by the paper's FLOPs equation (appendix A), with reductions."""
    cost_cot: int
    """The same without any reduction."""

    def as_dict(self) -> dict[str, int]:
        """Plain data, for JSON."""
        return asdict(self)


@dataclass(frozen=True)
class Trace(Generic[TokenT]):
    """A scaffolded chain of thought: the prompt, and all that is generated after it, nothing erased."""

    prompt: tuple[TokenT, ...]
    generated: tuple[TokenT, ...]
    marks: Marks[TokenT] = _WORDS

    def __len__(self) -> int:
        return len(self.prompt) + len(self.generated)

    def steps(self) -> Iterator[Step[TokenT]]:
        """Every generation and reduction."""
        return replay(self.prompt, self.generated, self.marks)

    def segments(self) -> Iterator[Segment[TokenT]]:
        """Every iteration, with the index where its own tokens start."""
        return segments(self.prompt, self.generated, self.marks)

    @property
    def final(self) -> list[TokenT]:
        """What is left after the prompt when every reduction is done: the response a person sees."""
        context = Context(self.prompt, self.marks)
        context.extend(self.generated)
        return context[len(self.prompt) :]

    def stats(self) -> Stats:
        """Tokens, peak, reductions, depth and attention cost, in one pass."""
        return measure(self.prompt, self.generated, self.marks)


def measure(
    prompt: Sequence[TokenT],
    generated: Iterable[TokenT],
    marks: Marks[TokenT] = _WORDS,
    *,
    scroll: bool = False,
) -> Stats:
    """The statistics of a trace; holds only the live sequence, so the trace may be a stream."""
    context = Context(prompt, marks, scroll=scroll)
    start, tokens, cost = len(context), len(prompt), 0
    for reduction in context.feed(generated):
        cost += attention_cost(start, reduction.end + 1) + attention_cost(reduction.kept, len(context))
        tokens += reduction.end + 1 - start
        start = len(context)
    tokens += len(context) - start
    return Stats(
        tokens=tokens,
        peak=context.peak,
        reductions=context.reductions,
        unmatched=context.unmatched,
        depth=context.max_depth,
        cost_pencil=cost + attention_cost(start, len(context)),
        cost_cot=attention_cost(len(prompt), tokens),
    )


def attention_cost(before: int, after: int) -> int:
    """The paper's cost of growing a cached sequence from one length to another: `(b + a + 1)(a - b)`.

    >>> attention_cost(0, 3) == 2 * (1 + 2 + 3)
    True
    """
    return (before + after + 1) * (after - before)
