"""The reduction rule, exact and streaming: `C [CALL] T [SEP] A [RETURN]  =>  C A`.

The rule looks at the last `[SEP]` before a `[RETURN]` and at the last `[CALL]` before that `[SEP]` (paper, section 2).
A may hold `[CALL]`, which gives tail recursion; neither A nor T may hold what would make the match ambiguous, so an
earlier `[RETURN]` after that `[SEP]` means that nothing matches. Then the sequence stays as it is.

>>> context = Context(["1", "+"])
>>> for word in "[CALL] 2 * 3 [SEP] 6".split():
...     _ = context.append(word)
>>> context.append("[RETURN]")
1 +  [CALL] 2 * 3 [SEP] 6    [RETURN]
keep drop────────────── keep drop────
>>> list(context)
['1', '+', '6']
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, overload

from pencil.tokens import WORD_MARKS, Marks, TokenT

_WORDS: Any = WORD_MARKS  # the default marks; Any, because a default cannot depend on the type of the tokens


@dataclass(frozen=True, repr=False)
class Reduction(Generic[TokenT]):
    """One application of the rule; positions count in the sequence x^(i) that ends with `[RETURN]`."""

    kept: int
    """Length of C: the context that survives untouched, and with it its cached keys and values."""
    sep: int
    """Position of the `[SEP]` that matched."""
    end: int
    """Position of the `[RETURN]`, one less than the length of x^(i)."""
    thought: tuple[TokenT, ...]
    """T, erased; without its marks."""
    answer: tuple[TokenT, ...]
    """A, moved to position `kept`."""
    lead: tuple[TokenT, ...] = ()
    """The last few tokens of C, for the drawing."""
    marks: Marks[Any] = WORD_MARKS
    scroll: bool = False

    @property
    def erased(self) -> int:
        """How many tokens are gone: T and the marks."""
        return self.end + 1 - self.kept - len(self.answer)

    def __repr__(self) -> str:
        call = () if self.scroll else (self.marks.call,)
        columns = [
            ("keep", _excerpt(self.lead, cut_front=len(self.lead) < self.kept)),
            ("drop", _excerpt((*call, *self.thought, self.marks.sep))),
            ("keep", _excerpt(self.answer)),
            ("drop", str(self.marks.ret)),
        ]
        return _draw([(fate, text) for fate, text in columns if text])


@dataclass(frozen=True)
class Segment(Generic[TokenT]):
    """An iteration x^(i), and the index where the model's own tokens start."""

    tokens: list[TokenT]
    start: int

    @property
    def generated(self) -> list[TokenT]:
        """The tokens on which the paper puts the loss: x^(i) without x^(i-0.5)."""
        return self.tokens[self.start :]


@dataclass(frozen=True)
class Step(Generic[TokenT]):
    """One round of the paper's process: generation up to x^(i), then reduction to x^(i+0.5)."""

    before: Segment[TokenT]
    reduction: Reduction[TokenT] | None
    """None in the last round, which ends without a reduction."""
    after: list[TokenT]


class Context(Sequence[TokenT]):
    """The live sequence: append tokens one by one, and thoughts fold away as soon as they return.

    Tokens of the prompt are taken as they are; only appended tokens trigger the rule. `scroll=True` is the paper's
    two-mark rule `T [SEP] T' [RETURN] => T'` (section 5).
    """

    def __init__(
        self,
        prompt: Iterable[TokenT] = (),
        marks: Marks[TokenT] = _WORDS,
        *,
        scroll: bool = False,
    ) -> None:
        self.marks = marks
        self.scroll = scroll
        self._special = {marks.call, marks.sep, marks.ret}
        self._live: list[TokenT] = []
        self._calls: list[int] = []  # positions of live [CALL]s
        self._seps: list[tuple[int, int]] = []  # live [SEP]s: position, how many calls precede it
        self._returns: list[int] = []  # live [RETURN]s, which matched nothing
        for token in prompt:
            self._live.append(token)
            if token in self._special:
                self._note(token)
        self.peak = len(self._live)
        """The longest the sequence has been, a final `[RETURN]` included."""
        self.max_depth = len(self._calls)
        """The most calls that were open at once."""
        self.reductions = 0
        """How often the rule has applied."""
        self.unmatched = 0
        """How often an appended `[RETURN]` matched nothing."""

    @property
    def depth(self) -> int:
        """How many calls are open now."""
        return len(self._calls)

    def append(self, token: TokenT) -> Reduction[TokenT] | None:
        """Add one token and apply the rule; O(1), plus the length of the answer at a reduction.

        Erasing T costs its length too, once for each token that was appended to it.
        """
        live = self._live
        live.append(token)
        if len(live) > self.peak:
            self.peak = len(live)
        if token not in self._special:
            return None
        reduction = self._match() if token == self.marks.ret else None
        if reduction is not None:
            self._rewrite(reduction)
            return reduction
        self._note(token)
        if token == self.marks.ret:
            self.unmatched += 1
        elif len(self._calls) > self.max_depth:
            self.max_depth = len(self._calls)
        return None

    def feed(self, tokens: Iterable[TokenT]) -> Iterator[Reduction[TokenT]]:
        """Append many tokens, faster than one by one; each reduction as it happens."""
        live, special = self._live, self._special
        for token in tokens:
            if token not in special:
                live.append(token)
            elif (reduction := self.append(token)) is not None:
                yield reduction
        self.peak = max(self.peak, len(live))  # between two marks the sequence only grows

    def extend(self, tokens: Iterable[TokenT]) -> list[Reduction[TokenT]]:
        """Append many tokens; the reductions they caused."""
        return list(self.feed(tokens))

    def _note(self, token: TokenT) -> None:
        """Remember where the mark at the end of the sequence stands."""
        position = len(self._live) - 1
        if token == self.marks.call:
            self._calls.append(position)
        elif token == self.marks.sep:
            self._seps.append((position, len(self._calls)))
        else:
            self._returns.append(position)

    def _match(self) -> Reduction[TokenT] | None:
        """What the rule finds for the `[RETURN]` that ends the sequence."""
        if not self._seps:
            return None
        sep, calls_before = self._seps[-1]
        answer_holds_return = bool(self._returns) and self._returns[-1] > sep
        if answer_holds_return or not (calls_before or self.scroll):
            return None
        kept = 0 if self.scroll else self._calls[calls_before - 1]
        live = self._live
        return Reduction(
            kept=kept,
            sep=sep,
            end=len(live) - 1,
            thought=tuple(live[kept if self.scroll else kept + 1 : sep]),
            answer=tuple(live[sep + 1 : -1]),
            lead=tuple(live[max(0, kept - _EXCERPT) : kept]),
            marks=self.marks,
            scroll=self.scroll,
        )

    def _rewrite(self, reduction: Reduction[TokenT]) -> None:
        """Turn x^(i) into x^(i+0.5), and move the calls that the answer holds."""
        kept, shift = reduction.kept, reduction.sep + 1 - reduction.kept
        answer_calls: list[int] = []
        while self._calls and self._calls[-1] > reduction.sep:
            answer_calls.append(self._calls.pop() - shift)
        while self._calls and self._calls[-1] >= kept:
            self._calls.pop()
        while self._seps and self._seps[-1][0] >= kept:
            self._seps.pop()
        while self._returns and self._returns[-1] >= kept:
            self._returns.pop()
        self._calls.extend(reversed(answer_calls))
        del self._live[kept:]
        self._live.extend(reduction.answer)
        self.reductions += 1
        self.max_depth = max(self.max_depth, len(self._calls))

    def __len__(self) -> int:
        return len(self._live)

    def __iter__(self) -> Iterator[TokenT]:
        return iter(self._live)

    @overload
    def __getitem__(self, index: int) -> TokenT: ...
    @overload
    def __getitem__(self, index: slice) -> list[TokenT]: ...
    def __getitem__(self, index: int | slice) -> TokenT | list[TokenT]:
        return self._live[index]

    def __repr__(self) -> str:
        return f"<Context of {len(self)} tokens, depth {self.depth}, peak {self.peak}, {self.reductions} reductions>"


def reduce(
    tokens: Iterable[TokenT],
    marks: Marks[TokenT] = _WORDS,
    *,
    scroll: bool = False,
) -> list[TokenT]:
    """Apply the rule once, to a sequence that ends with `[RETURN]`; anything else comes back unchanged.

    >>> reduce("a [CALL] b [SEP] c [RETURN]".split())
    ['a', 'c']
    """
    sequence = list(tokens)
    if not sequence or sequence[-1] != marks.ret:
        return sequence
    context = Context(sequence[:-1], marks, scroll=scroll)
    context.append(marks.ret)
    return list(context)


def replay(
    prompt: Iterable[TokenT],
    generated: Iterable[TokenT],
    marks: Marks[TokenT] = _WORDS,
    *,
    scroll: bool = False,
) -> Iterator[Step[TokenT]]:
    """Every x^(i) and x^(i+0.5) of a trace, in order."""
    context = Context(prompt, marks, scroll=scroll)
    start = len(context)
    for reduction in context.feed(generated):
        after = list(context)
        yield Step(Segment(_undo(after, reduction), start), reduction, after)
        start = len(after)
    if len(context) > start:
        last = list(context)
        yield Step(Segment(last, start), None, last)


def segments(
    prompt: Iterable[TokenT],
    generated: Iterable[TokenT],
    marks: Marks[TokenT] = _WORDS,
    *,
    scroll: bool = False,
) -> Iterator[Segment[TokenT]]:
    """The training sequences of a trace: each iteration, with the index where its own tokens start."""
    return (step.before for step in replay(prompt, generated, marks, scroll=scroll))


def scaffold(iterations: Iterable[Segment[TokenT]]) -> list[TokenT]:
    """The scaffolded chain of thought back from its iterations: the prompt, then all that was generated."""
    trace: list[TokenT] = []
    for index, segment in enumerate(iterations):
        trace.extend(segment.tokens if index == 0 else segment.generated)
    return trace


def _undo(after: list[TokenT], reduction: Reduction[TokenT]) -> list[TokenT]:
    """x^(i) from x^(i+0.5) and the reduction between them."""
    call = [] if reduction.scroll else [reduction.marks.call]
    context = after[: reduction.kept]
    return [*context, *call, *reduction.thought, reduction.marks.sep, *reduction.answer, reduction.marks.ret]


_EXCERPT = 8  # tokens shown of a long part: half from its front, half from its end


def _excerpt(tokens: Sequence[object], *, cut_front: bool = False) -> str:
    words = [repr(str(token))[1:-1] for token in tokens]
    if len(words) > _EXCERPT:
        words = [*words[: _EXCERPT // 2], "…", *words[-_EXCERPT // 2 :]]
    return " ".join(["…", *words] if cut_front else words)


def _draw(columns: list[tuple[str, str]]) -> str:
    """Two lines: the words, and below them what is kept and what is dropped."""
    top, bottom = "", ""
    for fate, text in columns:
        width = max(len(text), len(fate)) + 1
        top += text.ljust(width)
        bottom += fate.ljust(len(text), "─").ljust(width)
    return f"{top.rstrip()}\n{bottom.rstrip()}"
