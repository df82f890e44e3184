"""A trace's iterations as one sequence that shares their prefixes, so that each is computed once.

All x^(i) of a trace form a tree: x^(i+1) keeps C of x^(i), then comes A, then new tokens. So the trace is written once:
the prompt, what is generated, and after each reduction the answer's tokens again, because their positions and context
changed. A packed token is live from its own index up to the index at which a reduction erased it. It sees exactly the
tokens that were live when it was written: token i sees token j where j <= i < ends[j].

`[RETURN]` that matched is a target and never an input. The loss is on the tokens the model generates, as in the paper.

>>> packed = pack([9], [0, 5, 1, 7, 2, 8], Marks(call=0, sep=1, ret=2))  # 9 [CALL] 5 [SEP] 7 [RETURN] 8
>>> packed.ids.tolist()
[9, 0, 5, 1, 7, 7]
>>> packed.positions.tolist()
[0, 1, 2, 3, 4, 1]
>>> packed.sees().astype(int)[-1].tolist()
[1, 0, 0, 0, 0, 1]
>>> list(zip(packed.inputs.tolist(), packed.targets.tolist()))
[(0, 0), (1, 5), (2, 1), (3, 7), (4, 2), (5, 8)]
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from pencil.errors import TraceError
from pencil.model.frames import MARKS, Calls, calls_after, in_sight, seen_with
from pencil.rule import Context
from pencil.tokens import Marks

Ints = NDArray[np.int64]
Rows = Ints | Sequence[Sequence[int]]
NOTHING: Marks[int] = Marks(-1, -2, -3)
"""Marks that no trace holds, so that nothing is erased."""


@dataclass(frozen=True)
class Packed:
    """One trace, or many after each other, with N tokens to read and M to predict."""

    ids: Ints
    """(N,) what the model reads."""
    positions: Ints
    """(N,) each token's place in its live sequence."""
    ends: Ints
    """(N,) the packed index from which on a token is no longer live."""
    seen: Ints
    """(N, 2) the positions that a token sees: those before the first number, and those from the second on."""
    inputs: Ints
    """(M,) the packed index after which a token is predicted; with an empty answer, one index has two targets."""
    targets: Ints
    """(M,) the tokens that the model generates."""
    hints: "Hints"
    """What to have in mind, and where to look, before some of them are said."""

    def __len__(self) -> int:
        return len(self.ids)

    def sees(self) -> NDArray[np.bool_]:
        """(N, N): which token attends to which; for tests and drawings."""
        time = np.arange(len(self))
        live = (time[None, :] <= time[:, None]) & (time[:, None] < self.ends[None, :])
        seen: NDArray[np.bool_] = live & in_sight(self.positions, self.seen[:, :1], self.seen[:, 1:])
        return seen

    @property
    def seen_counts(self) -> Ints:
        """(N,) how many tokens each one sees before itself."""
        return self.positions - self.seen[:, 1] + self.seen[:, 0]

    def keep(self, kept: NDArray[np.bool_]) -> "Packed":
        """Only the tokens kept; what is predicted after one that is gone goes too."""
        index_of = np.concatenate(([0], np.cumsum(kept)))  # old index -> new index
        asked = kept[self.inputs]
        return Packed(
            self.ids[kept],
            self.positions[kept],
            index_of[self.ends[kept]],
            self.seen[kept],
            index_of[self.inputs[asked]],
            self.targets[asked],
            self.hints.keep(kept, asked),
        )

    def without(self, targets: Sequence[int]) -> "Packed":
        """The same, but nothing is learned about some targets."""
        asked = np.ones(len(self.targets), bool)
        asked[list(targets)] = False
        hints = self.hints.keep(np.ones(len(self), bool), asked)
        return replace(self, inputs=self.inputs[asked], targets=self.targets[asked], hints=hints)

    def within(self, window: int) -> "Packed":
        """Cut to what a model with this window can read, as in the paper."""
        return self if self.positions.max() < window else self.keep(self.positions < window)


@dataclass(frozen=True)
class Hints:
    """The hints of a trace, in rows of numbers; `Hint` says what they mean."""

    mind: Ints
    """(P, 3) the target they come before, their depth, and w + 1 for a token w in mind, -w - 1 for one that is not."""
    looks: Ints
    """(L, 4) the target they come before, their depth, a head, and the packed index it looks at."""

    @staticmethod
    def of(mind: Rows = (), looks: Rows = ()) -> "Hints":
        """From rows, of which there may be none."""
        return Hints(np.array(mind, np.int64).reshape(-1, 3), np.array(looks, np.int64).reshape(-1, 4))

    def keep(self, kept: NDArray[np.bool_], asked: NDArray[np.bool_]) -> "Hints":
        """Only those before a target that is still asked for, at tokens that are kept."""
        target_of, index_of = np.cumsum(asked) - 1, np.cumsum(kept) - 1  # old -> new
        mind = self.mind[asked[self.mind[:, 0]]]
        looks = self.looks[asked[self.looks[:, 0]] & kept[self.looks[:, 3]]]
        return Hints(
            np.column_stack((target_of[mind[:, 0]], mind[:, 1:])),
            np.column_stack((target_of[looks[:, 0]], looks[:, 1:3], index_of[looks[:, 3]])),
        )

    def shifted(self, targets: int, tokens: int) -> "Hints":
        """The same, after so many targets and tokens of other traces."""
        return Hints(self.mind + np.array([targets, 0, 0]), self.looks + np.array([targets, 0, 0, tokens]))


def pack(
    prompt: Sequence[int],
    generated: Sequence[int],
    marks: Marks[int] | None,
    hints: Hints | None = None,
    frames: int = 0,
    outermost: bool = False,
) -> Packed:
    """Write a trace once, for a model that sees these frames; without marks nothing is erased, a chain of thought.

    Hints name words by their index in `[*prompt, *generated]`: their rows start with the word after which they hold,
    and looks end with the word looked at.
    """
    marks = marks or NOTHING
    context = Context(prompt, marks)
    ids, positions, live = list[int](), list[int](), list[int]()
    words, since = list[int](), list[int]()  # for each packed token which word it is, and from which target on
    erased: list[tuple[list[int], int]] = []  # packed indices, and the index at which they were erased
    inputs, targets = list[int](), list[int]()

    def write(tokens: Sequence[int], which: Iterable[int], times: Iterable[int]) -> None:
        positions.extend(range(len(live), len(live) + len(tokens)))
        live.extend(range(len(ids), len(ids) + len(tokens)))
        ids.extend(tokens)
        words.extend(which)
        since.extend(times)

    write(prompt, range(len(prompt)), [0] * len(prompt))
    for said in _up_to_each(marks.ret, generated):
        if not live:
            raise TraceError(f"nothing is left to predict token {len(targets)} from; a trace needs a prompt to keep")
        reductions = context.extend(said)
        inputs += [live[-1], *range(len(ids), len(ids) + len(said) - 1)]
        fresh = said[: len(said) - len(reductions)]  # a `[RETURN]` that matched is not read
        first = len(prompt) + len(targets)
        write(fresh, range(first, first + len(fresh)), range(len(targets) + 1, len(targets) + 1 + len(fresh)))
        targets += said
        for reduction in reductions:
            erased.append((live[reduction.kept :], len(ids)))
            again = [words[index] for index in live[len(live) - len(reduction.answer) :]]
            del live[reduction.kept :]
            write(reduction.answer, again, [len(targets)] * len(again))
    ends = np.full(len(ids), len(ids))
    for indices, end in erased:
        ends[indices] = end
    copies = np.column_stack((_ints(words), _ints(since), np.arange(len(ids))))
    rest = _before_targets(hints or Hints.of(), copies, len(prompt), len(targets))
    seen = _seen(ids, positions, frames, outermost)
    packed = Packed(_ints(ids), _ints(positions), ends, seen, _ints(inputs), _ints(targets), rest)
    return _within_sight(packed).keep(np.arange(len(ids)) <= max(inputs, default=-1))  # what comes later is never read


def _up_to_each(mark: int, tokens: Sequence[int]) -> Iterator[list[int]]:
    """Parts that end with the mark, but for the last one."""
    places = [place + 1 for place, token in enumerate(tokens) if token == mark]
    for start, stop in pairwise([0, *places, len(tokens)]):
        if start < stop:
            yield list(tokens[start:stop])


def _seen(ids: Sequence[int], positions: Sequence[int], frames: int, outermost: bool) -> Ints:
    """(N, 2) what each token sees; its live sequence is that of the last token at the position before."""
    if not frames:
        return np.zeros((len(ids), 2), np.int64)
    stacks, found, live = list[Calls]([()]), list[int](), list[int]()  # for each token, and each live one, its stack
    for token, position in zip(ids, positions, strict=True):
        del live[position:]
        stack = live[-1] if live else 0
        if token in (MARKS.call, MARKS.ret):
            stacks.append(calls_after(token, position, stacks[stack]))
            stack = len(stacks) - 1
        live.append(stack)
        found.append(stack)
    return _ints([seen_with(calls, frames, outermost) for calls in stacks])[_ints(found)]


def _within_sight(packed: Packed) -> Packed:
    """Hints look at what is live, and of that only at what is in a frame that is seen; of each, something has to be."""
    looks = packed.hints.looks
    asking, named = packed.inputs[looks[:, 0]], looks[:, 3]
    for target, *_, token in looks[packed.ends[named] <= asking]:
        raise TraceError(f"a hint before target {target} looks at token {token}, which is erased; expected a live one")
    seen = in_sight(packed.positions[named], *packed.seen[asking].T)
    if seen.all():
        return packed
    head = np.unique(looks[:, :3], axis=0, return_inverse=True)[1].ravel()  # rows of one look of a head
    for target, *_, token in looks[~seen & ~np.isin(head, head[seen])]:
        raise TraceError(f"a hint before target {target} looks at token {token}, in a frame that is not seen there")
    return replace(packed, hints=replace(packed.hints, looks=looks[seen]))


def _ints(numbers: Sequence[int] | Sequence[Sequence[int]]) -> Ints:
    return np.array(numbers, np.int64)


def _before_targets(hints: Hints, copies: Ints, prompt: int, targets: int) -> Hints:
    """The hints that come before a target, not those within the prompt; what is looked at is the copy that is live."""
    mind, looks = (
        rows[(rows[:, 0] >= prompt - 1) & (rows[:, 0] < prompt - 1 + targets)] for rows in (hints.mind, hints.looks)
    )
    for word, *_, seen in looks[looks[:, 3] > looks[:, 0]]:
        raise TraceError(f"a hint at word {word} looks at word {seen}, which comes later; expected one that is seen")
    mind, looks = mind - _ints([prompt - 1, 0, 0]), looks - _ints([prompt - 1, 0, 0, 0])
    words, since, indices = copies[np.lexsort((copies[:, 1], copies[:, 0]))].T  # by word, then by time
    times = targets + 1
    latest = np.searchsorted(words * times + since, looks[:, 3] * times + looks[:, 0], side="right") - 1
    looks[:, 3] = indices[latest]
    return Hints(mind, looks[np.argsort(looks[:, 0], kind="stable")])


def join(traces: Sequence[Packed]) -> Packed:
    """Many traces as one; none sees another, because a trace ends where the next one starts."""
    starts = np.cumsum([0, *(len(trace) for trace in traces[:-1])])
    firsts = np.cumsum([0, *(len(trace.targets) for trace in traces[:-1])])
    hints = [trace.hints.shifted(*at) for trace, *at in zip(traces, firsts, starts, strict=True)]
    return Packed(
        np.concatenate([trace.ids for trace in traces]),
        np.concatenate([trace.positions for trace in traces]),
        np.concatenate([trace.ends + start for trace, start in zip(traces, starts, strict=True)]),
        np.concatenate([trace.seen for trace in traces]),
        np.concatenate([trace.inputs + start for trace, start in zip(traces, starts, strict=True)]),
        np.concatenate([trace.targets for trace in traces]),
        Hints(np.concatenate([some.mind for some in hints]), np.concatenate([some.looks for some in hints])),
    )
