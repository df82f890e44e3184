"""Packed traces cut into chunks for attention: equal numbers of queries, and keys gathered for each chunk.

A chunk is Q queries after each other. Its keys are the tokens from its first query to its last, and its context: what
is live when it starts. Whatever a query of the chunk may see is among them, so a chunk may span many reductions, and
even traces. Chunks with about as many keys make a bucket, padded to the longest. In the last layer only those tokens
ask after which something is predicted.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pencil.model.config import ModelConfig
from pencil.model.frames import MARKS, in_sight
from pencil.model.surroundings import rows_of_stand
from pencil.train.pack import Hints, Ints, Packed, join

CHUNKS = ((320, 64), (1_024, 128))
"""Up to a mean number of words seen, how many queries a chunk has; for more, gathers cost more than masked pairs."""
LARGEST_CHUNK = 256
BLOCK = 64
"""Numbers of rows for products are multiples of this, so that there are few of them."""
CALL = 8_000
"""A further bucket costs about as much as so many pairs of a query and a key."""


@dataclass(frozen=True)
class Chunks:
    """Queries in chunks of Q, longest first, and the keys of each."""

    queries: Ints
    """(chunks * Q,) which of a batch's tokens ask; the last one again where a chunk needs filling."""
    keys: tuple[Ints, ...]
    """For each bucket (chunks, K): which of the tokens are keys; -1 is padding."""


@dataclass(frozen=True)
class Batch:
    """What one step reads: N tokens, and M to predict."""

    ids: Ints
    """(N,)"""
    positions: Ints
    """(N,)"""
    times: Ints
    """(N,) the packed index of each token, from before they were put in the order of their chunks."""
    ends: Ints
    """(N,) the packed index from which on a token is no longer live."""
    seen: Ints
    """(N, 2) the positions that a token sees: those before the first number, and those from the second on."""
    every: Chunks
    """All tokens as queries, in the order of the batch."""
    last: Chunks
    """Those after which something is predicted."""
    inputs: Ints
    """(M,) after which of the last chunks' queries a target is predicted."""
    targets: Ints
    """(M,)"""
    hints: Hints
    """As those of `Packed`; what is looked at is a place in the batch."""
    packed: int
    """How many of the N tokens are no padding."""

    @property
    def read(self) -> Ints:
        """(M,) the token before each target."""
        return self.ids[self.places]

    @property
    def places(self) -> Ints:
        """(M,) where in the batch the token before each target is."""
        return self.last.queries[self.inputs]

    def surroundings(self, config: ModelConfig) -> Ints:
        """(N, F) the rows that each token names, as `find_rows` does in its live sequence."""
        before = self._places_before()
        one_before, here = np.append(before, -1), np.arange(len(self.ids))  # the last one is for what has none
        columns = []
        for back in range(config.recent):
            word, here = here, one_before[here]
            rows = back * config.vocab_size + self.ids[here]
            if config.pairs:
                rows = rows * config.vocab_size + self.ids[word]
            columns.append(np.where(here < 0, -1, rows))
        if config.levels or config.places:
            columns.append(np.array([rows_of_stand(*stand, config) for stand in self._stands(before)]))
        return np.column_stack(columns)

    def _stands(self, before: Ints) -> list[tuple[int, int]]:
        """(N,) how many calls are open at each token, and how far the last one is; both follow from the one before."""
        stands, previous, ids = [(0, -1)] * (len(self.ids) + 1), before.tolist(), self.ids.tolist()
        for at in np.argsort(self.times).tolist():
            level, place = stands[previous[at]]  # the last one is for what has none before it
            token = ids[at]
            level += (token == MARKS.call) - (token == MARKS.ret)
            stands[at] = level, 0 if token == MARKS.call else place + 1
        return stands[:-1]

    def _places_before(self) -> Ints:
        """(N,) where in the batch the token before each is: the last one written at the position before its own."""
        written = self.positions * len(self.ids) + self.times
        order = np.argsort(written)
        latest = order[np.searchsorted(written, written - len(self.ids), sorter=order) - 1]
        return np.where(self.positions > 0, latest, -1)


def make_batch(traces: Sequence[Packed], chunk: int | None = None) -> Batch:
    """Traces to chunks, chunks to buckets."""
    packed = join(traces)
    chunk = chunk or chunk_for(packed)
    padding = -len(packed) % chunk
    times = np.arange(len(packed) + padding)
    ends = np.concatenate((packed.ends, times[len(packed) :] + 1))  # padding sees itself: a softmax needs a key
    ids, positions = (np.pad(each, (0, padding)) for each in (packed.ids, packed.positions))
    seen = np.pad(packed.seen, ((0, padding), (0, 0)))
    asking, asked = np.unique(packed.inputs, return_inverse=True)
    every, last = (_cut(queries, ends, positions, seen, chunk) for queries in (times, asking))
    order = every.queries  # place in the batch -> packed index
    return Batch(
        ids=ids[order],
        positions=positions[order],
        times=order,
        ends=ends[order],
        seen=seen[order],
        every=_placed(every, order),
        last=_placed(last, order),
        inputs=np.argsort(last.queries, kind="stable")[asked],
        targets=packed.targets,
        hints=Hints(packed.hints.mind, _placed_looks(packed.hints.looks, order)),
        packed=len(packed),
    )


def in_blocks(rows: Ints) -> Ints:
    """Filled up with the last one: a product with a new number of rows may have to be compiled first.

    >>> len(in_blocks(np.arange(70)))
    128
    """
    return np.pad(rows, (0, -len(rows) % BLOCK), mode="edge")


def chunk_for(packed: Packed) -> int:
    """Q for contexts of this length; measured on a CPU."""
    mean = packed.seen_counts.mean()
    return next((chunk for most, chunk in CHUNKS if mean <= most), LARGEST_CHUNK)


def _cut(queries: Ints, ends: Ints, positions: Ints, seen: Ints, chunk: int) -> Chunks:
    """Chunks of queries that are given in order, with their keys, all as packed indices."""
    chunks = np.pad(queries, (0, -len(queries) % chunk), mode="edge").reshape(-1, chunk)
    keys = []
    for asking in chunks:
        live = live_at(ends, asking[0], positions[asking[0]])
        context = live[in_sight(positions[live], seen[asking, 0].max(), seen[asking, 1].min())]
        keys.append(np.concatenate((np.arange(asking[0], asking[-1] + 1), context)))
    order = np.argsort([-len(some) for some in keys], kind="stable")
    return Chunks(chunks[order].ravel(), tuple(_buckets([keys[index] for index in order], chunk)))


def _placed(chunks: Chunks, order: Ints) -> Chunks:
    """The same chunks, packed indices replaced by places in the batch."""
    place = np.append(np.argsort(order), -1)  # the last one is for padding, -1
    return Chunks(place[chunks.queries], tuple(place[keys] for keys in chunks.keys))


def _placed_looks(looks: Ints, order: Ints) -> Ints:
    """The same looks, packed indices replaced by places in the batch."""
    return np.column_stack((looks[:, :3], np.argsort(order)[looks[:, 3]]))


def live_at(ends: Ints, time: int, count: int) -> Ints:
    """The `count` tokens before a time that are live then; looks further back until it has found them."""
    reach = 2 * count
    while True:
        first = max(0, time - reach)
        live = np.flatnonzero(ends[first:time] > time) + first
        if len(live) >= count:
            return live
        reach *= 2


def _buckets(keys: Sequence[Ints], chunk: int) -> list[Ints]:
    """Neighbours in one array each, (chunks, K), filled up with -1."""
    buckets: list[Ints] = []
    for first, last in cheapest_slices([len(some) for some in keys], CALL // chunk):
        bucket = np.full((last - first, len(keys[first])), -1)
        for row, some in zip(bucket, keys[first:last], strict=True):
            row[: len(some)] = some
        buckets.append(bucket)
    return buckets


def cheapest_slices(lengths: Sequence[int], call: int) -> list[tuple[int, int]]:
    """Slices of falling lengths that cost least: each is padded to its first, and costs a call.

    >>> cheapest_slices([90, 88, 50, 50, 20], call=10)
    [(0, 2), (2, 4), (4, 5)]
    >>> cheapest_slices([90, 88, 50, 50, 20], call=150)
    [(0, 5)]
    """
    padded, costs, starts = np.array(lengths), np.zeros(len(lengths) + 1), [0]
    for last in range(1, len(lengths) + 1):
        candidates = costs[:last] + (last - np.arange(last)) * padded[:last] + call
        starts.append(int(candidates.argmin()))
        costs[last] = candidates[starts[last]]
    slices = [(starts[-1], len(lengths))]
    while slices[0][0] > 0:
        slices.insert(0, (starts[slices[0][0]], slices[0][0]))
    return slices
