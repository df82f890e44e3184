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

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pencil.errors import TraceError
from pencil.rule import Context
from pencil.tokens import Marks

Ints = NDArray[np.int64]
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
    inputs: Ints
    """(M,) the packed index after which a token is predicted; with an empty answer, one index has two targets."""
    targets: Ints
    """(M,) the tokens that the model generates."""
    hints: Ints
    """(M, K) what to have in mind before each of them is said: w + 1 for a token w that holds, -w - 1 for one that does
    not, 0 for nothing."""

    def __len__(self) -> int:
        return len(self.ids)

    def sees(self) -> NDArray[np.bool_]:
        """(N, N): which token attends to which; for tests and drawings."""
        time = np.arange(len(self))
        return (time[None, :] <= time[:, None]) & (time[:, None] < self.ends[None, :])

    def keep(self, kept: NDArray[np.bool_]) -> "Packed":
        """Only the tokens kept; what is predicted after one that is gone goes too."""
        index_of = np.concatenate(([0], np.cumsum(kept)))  # old index -> new index
        asked = kept[self.inputs]
        return Packed(
            self.ids[kept],
            self.positions[kept],
            index_of[self.ends[kept]],
            index_of[self.inputs[asked]],
            self.targets[asked],
            self.hints[asked],
        )

    def within(self, window: int) -> "Packed":
        """Cut to what a model with this window can read, as in the paper."""
        return self if self.positions.max() < window else self.keep(self.positions < window)


def pack(
    prompt: Sequence[int], generated: Sequence[int], marks: Marks[int] | None, hints: Ints | None = None
) -> Packed:
    """Write a trace once; without marks nothing is erased, which is a chain of thought."""
    context = Context(prompt, marks or NOTHING)
    ids, positions, live = list(prompt), list(range(len(prompt))), list(range(len(prompt)))
    erased: list[tuple[list[int], int]] = []  # packed indices, and the index at which they were erased
    inputs: list[int] = []
    targets: list[int] = []
    for token in generated:
        if not live:
            raise TraceError(f"nothing is left to predict token {len(targets)} from; a trace needs a prompt to keep")
        inputs.append(live[-1])
        targets.append(token)
        reduction = context.append(token)
        fresh: Sequence[int] = (token,)
        if reduction is not None:
            erased.append((live[reduction.kept :], len(ids)))
            del live[reduction.kept :]
            fresh = reduction.answer
        for token in fresh:
            positions.append(len(live))
            live.append(len(ids))
            ids.append(token)
    ends = np.full(len(ids), len(ids))
    for indices, end in erased:
        ends[indices] = end
    hints = np.zeros((len(targets), 0), np.int64) if hints is None else hints
    packed = Packed(*(np.array(part, np.int64) for part in (ids, positions, ends, inputs, targets, hints)))
    return packed.keep(np.arange(len(ids)) <= max(inputs, default=-1))  # what comes later is never read


def join(traces: Sequence[Packed]) -> Packed:
    """Many traces as one; none sees another, because a trace ends where the next one starts."""
    starts = np.cumsum([0, *(len(trace) for trace in traces[:-1])])
    most = max(trace.hints.shape[1] for trace in traces)
    return Packed(
        np.concatenate([trace.ids for trace in traces]),
        np.concatenate([trace.positions for trace in traces]),
        np.concatenate([trace.ends + start for trace, start in zip(traces, starts, strict=True)]),
        np.concatenate([trace.inputs + start for trace, start in zip(traces, starts, strict=True)]),
        np.concatenate([trace.targets for trace in traces]),
        np.concatenate([np.pad(trace.hints, ((0, 0), (0, most - trace.hints.shape[1]))) for trace in traces]),
    )
