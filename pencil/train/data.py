"""Online data: instance i of a seed is always the same, so any step's batch can be made by any process at any time."""

import signal
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, count, product
from math import ceil
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch.utils.data import DataLoader, Dataset

from pencil.rule import Context
from pencil.tasks import Task, get_task
from pencil.tasks.hints import LAYERS
from pencil.tokens import Marks, Vocab
from pencil.trace import Trace
from pencil.train.batch import Batch, make_batch
from pencil.train.config import DataConfig
from pencil.train.memory import garbage_left_alone
from pencil.train.pack import Hints, Ints, Packed, pack
from pencil.train.split import draw, is_held_out

EDGES = 0.1
"""How often a stretch is the first of a trace, and how often the last; few others hold the first and last words."""
PAIRS = 768
"""The other layers of a small model take about as long for a token as attention does for so many that it sees."""
COUNTED = 100
"""Traces of each size by which the rarity of words is told."""
BATCH = 3_000
"""Packed tokens that a hand learns from at a time; its cache does not hold what many more of them leave behind."""
AHEAD = 8
"""Batches that each worker prepares ahead of the step."""


@dataclass(frozen=True)
class Data(Dataset[list[Batch]]):
    """A step's batches; `part` of `parts` processes takes every so many-th instance of each step."""

    config: DataConfig
    part: int = 0
    parts: int = 1
    shares: int = 1
    """Among how many threads this part is dealt out."""
    frames: int = 0
    """How many frames the model sees; 0 means all."""
    outermost: bool = False
    """Whether it also sees the outermost one."""
    layers: int = LAYERS
    """How many it has; hints are for so many."""

    @cached_property
    def tasks(self) -> dict[int, Task[Any]]:
        """One for each size."""
        return {size: get_task(self.config.task, size) for size in [*self.config.first_sizes, *self.config.sizes]}

    @cached_property
    def vocab(self) -> Vocab:
        """That of the largest size, which holds those of the others."""
        return self.tasks[max(self.tasks)].vocab

    def __getitem__(self, step: int) -> list[Batch]:
        """This process's part of a step: one batch for each share, or several where these would be large."""
        first = step * self.config.batch
        traces = [self.packed(first + i) for i in range(self.part, self.config.batch, self.parts)]
        each = ceil(sum(map(len, traces)) / (self.shares * BATCH)) if self.shares > 1 else 1
        return [make_batch(share) for share in deal(traces, self.shares * each)]

    @garbage_left_alone()
    def packed(self, index: int) -> Packed:
        """Instance `index` of the series."""
        config = self.config
        rng, _ = self._begin(index)
        _, size = self._begin(index - index % config.batch)  # all of a step are as large as its first: equal shares
        task = self.tasks[size]
        rare = self._marks and config.rare and rng.random() < config.rare
        stretch = self._draw_rare(task, rng) if rare else self._choose(index, task, rng)
        hints = self._hints(task, stretch)
        packed = pack(stretch.given, stretch.said, self._marks, hints, self.frames, self.outermost)
        return packed.without(stretch.left_out).within(config.window)

    def _choose(self, index: int, task: Task[Any], rng: Random) -> "Stretch":
        """A stretch of a random instance; every other one has the rarest words of many."""
        config = self.config
        among = config.choices if self._marks and config.stretch and index % 2 else 1  # whole traces differ in length
        ends = config.renamed_steps
        renamed = config.renamed if ends is None or index < ends * config.batch else 0.0
        drawn = [self._draw(task, rng, renamed) for _ in range(among)]
        return max(drawn, key=lambda some: self.rarity(some.said)) if len(drawn) > 1 else drawn[0]

    def _begin(self, index: int) -> tuple[Random, int]:
        """The random numbers of an instance, and the size that they begin with."""
        config, rng = self.config, Random(f"train {self.config.seed} {index}")
        sizes = config.first_sizes if index < config.first_steps * config.batch else config.sizes
        return rng, rng.choices(list(sizes), weights=list(sizes.values()))[0]

    @property
    def _marks(self) -> Marks[int] | None:
        """Those that erase; a chain of thought has none."""
        return self.vocab.marks if self.config.format == "pencil" else None

    def _draw(self, task: Task[Any], rng: Random, share: float) -> "Stretch":
        """A stretch of a random instance; its names are other ones in a share of the cases."""
        trace = task.trace(draw(task, rng, held_out=False), self.config.format)
        renamed = share > 0 and rng.random() < share
        if renamed:
            trace = self._rename(trace, task, rng)
        prompt, generated = self.vocab.encode(trace.prompt), self.vocab.encode(trace.generated)
        stretch = Stretch(prompt, generated)
        if self._marks is None:
            stretch = Stretch(prompt, generated[: self.config.window])
        elif self.config.stretch is not None:
            stretch = random_stretch(prompt, generated, self._marks, self.config.stretch, rng)
        unsettled = task.unsettled(self.vocab.decode(stretch.said)) if renamed else []
        return replace(stretch, unsettled=unsettled)

    def _draw_rare(self, task: Task[Any], rng: Random) -> "Stretch":
        """The words that tell of a situation that is rarely come to, and the first that follow from it."""
        trace, told = task.rare_trace(draw(task, rng, held_out=False), rng)
        generated = self.vocab.encode(trace.generated)
        length = len(generated) if self.config.stretch is None else told + self.config.stretch
        return Stretch(self.vocab.encode(trace.prompt), generated[:length], unsettled=range(told))

    def _rename(self, trace: Trace[str], task: Task[Any], rng: Random) -> Trace[str]:
        """The trace with any names that the largest size has; its prompt is still not a held-out one."""
        while True:
            names = rng.sample(self.tasks[max(self.tasks)].names, len(task.names))
            other = dict(zip(task.names, names, strict=True))
            prompt, generated = (
                tuple(other.get(word, word) for word in words) for words in (trace.prompt, trace.generated)
            )
            if not is_held_out(prompt):
                return Trace(prompt, generated)

    def rarity(self, generated: Ints | Sequence[int]) -> float:
        """How rare words are, added up."""
        return float(self._rarities[np.asarray(generated)].sum())

    @cached_property
    def _rarities(self) -> NDArray[np.float64]:
        """(V,) how rare each word is, by a few traces of each size."""
        counts = np.ones(len(self.vocab))
        for task, index in product((self.tasks[size] for size in self.config.sizes), range(COUNTED)):
            rng = Random(f"count {self.config.seed} {index}")
            trace = task.trace(draw(task, rng, held_out=False), self.config.format)
            counts += np.bincount(self.vocab.encode(trace.generated), minlength=len(counts))
        return 1 / counts

    def _hints(self, task: Task[Any], stretch: "Stretch") -> Hints | None:
        """What the task tells beside the trace, in numbers, but not at words that were moved: what followed is gone."""
        if not self.config.hints:
            return None
        words, moved = self.vocab.decode([*stretch.given, *stretch.said]), set(stretch.moved)
        hints = [hint for hint in task.hints(words, self.layers) if hint.place not in moved]
        minds = [hint for hint in hints if hint.mind]
        shared = {id(hint.mind): hint.mind for hint in minds}  # many have the same in mind
        tokens = {key: self._signed(mind) for key, mind in shared.items()}
        looks = [(hint.place, hint.depth, head, places) for hint in hints for head, places in hint.looks.items()]
        return Hints.of(
            _rows([(hint.place, hint.depth) for hint in minds], [tokens[id(hint.mind)] for hint in minds]),
            _rows([numbers for *numbers, _ in looks], [places for *_, places in looks]),
        )

    def _signed(self, mind: Mapping[str, bool]) -> list[int]:
        """Words in mind as `Hints` has them."""
        tokens = self.vocab.encode(list(mind))
        return [token + 1 if holds else -token - 1 for token, holds in zip(tokens, mind.values(), strict=True)]

    def batches(self, first: int, workers: int) -> Iterator[list[Batch]]:
        """Endless, from a step on; made in worker processes ahead of time, or here if there are none."""
        loader: DataLoader[list[Batch]] = DataLoader(
            self,
            sampler=_StepsFrom(first),
            batch_size=None,
            num_workers=workers,
            prefetch_factor=AHEAD if workers else None,
            multiprocessing_context="spawn" if workers else None,
            worker_init_fn=_leave_signals_to_the_parent,
        )
        return iter(loader)


@dataclass(frozen=True)
class Stretch:
    """A part of a trace: what is given, and what is said after it."""

    given: list[int]
    said: list[int]
    moved: Sequence[int] = ()
    """The places, what is given included, of words that are live as answers: they were said where more was live."""
    unsettled: Sequence[int] = ()
    """The places, among what is said, of words that nobody could know: they follow from names that were changed."""

    @property
    def left_out(self) -> list[int]:
        """The places, among what is said, of words that are not learned from."""
        start = len(self.given)
        return [*(place - start for place in self.moved if place >= start), *self.unsettled]


@dataclass(frozen=True)
class _StepsFrom:
    """Step numbers without end."""

    first: int

    def __iter__(self) -> Iterator[int]:
        return count(self.first)


def _rows(heads: Sequence[Sequence[int]], tails: Sequence[Sequence[int]]) -> Ints:
    """A row for each number of a tail, behind its head."""
    lengths = [len(tail) for tail in tails]
    numbers = np.fromiter(chain.from_iterable(tails), np.int64, sum(lengths))
    return np.column_stack((np.repeat(np.array(heads), lengths, axis=0), numbers)) if heads else numbers


def deal(traces: Sequence[Packed], shares: int) -> list[list[Packed]]:
    """Shares of about equal cost: the dearest trace first, each to the share that is cheapest so far."""
    dealt: list[list[Packed]] = [[] for _ in range(min(shares, len(traces)))]
    costs = [0] * len(dealt)
    for trace in sorted(traces, key=cost, reverse=True):
        cheapest = costs.index(min(costs))
        dealt[cheapest].append(trace)
        costs[cheapest] += cost(trace)
    return dealt


def cost(trace: Packed) -> int:
    """About what a trace takes to learn from, in pairs of a token and one that it sees."""
    return int((trace.seen_counts + PAIRS).sum())


def random_stretch(
    prompt: Sequence[int], generated: Sequence[int], marks: Marks[int], length: int, rng: Random
) -> Stretch:
    """What is live after a reduction, and the next tokens generated; the paper allows to draw segments.

    A stretch is as long as the trace allows, and none of its new tokens but those near the edges is learned from more
    than others. What is live has to be read anyway, and most of it was said with just what is before it live. So it is
    learned from, too.
    """
    starts = [0, *(place + 1 for place, token in enumerate(generated[:-1]) if token == marks.ret)]
    last = next(start for start in starts if len(generated) - start <= length or start == starts[-1])
    edge = rng.random()
    at = 0 if edge < EDGES else last if edge < 2 * EDGES else rng.randint(0, last)
    start = starts[bisect_right(starts, at) - 1]
    live, given, moved = live_after(prompt, generated[:start], marks)
    given = max(1, given)  # something has to come before the first word
    return Stretch(live[:given], [*live[given:], *generated[start : start + length]], moved)


def live_after(prompt: Sequence[int], generated: Sequence[int], marks: Marks[int]) -> tuple[list[int], int, list[int]]:
    """What is live when all this was generated, how much of it is the prompt, and the places of what was moved there.

    >>> live_after([9], [8, 0, 5, 1, 7, 2, 6], Marks(call=0, sep=1, ret=2))  # 9 8 [CALL] 5 [SEP] 7 [RETURN] 6
    ([9, 8, 7, 6], 1, [2])
    """
    context, given, moved = Context(prompt, marks), len(prompt), list[int]()
    for reduction in context.feed(generated):
        given = min(given, reduction.kept)
        answer = range(reduction.kept, reduction.kept + len(reduction.answer))
        moved = [*(place for place in moved if place < reduction.kept), *answer]
    return list(context), given, moved


def _leave_signals_to_the_parent(worker: int) -> None:
    """A terminal and a batch system signal every process; the parent stops its workers when it is done."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
