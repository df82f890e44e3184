"""Packed traces cut into chunks for attention: equal numbers of queries, and keys gathered for each chunk.

A chunk is Q packed tokens after each other. Its keys are its own tokens and its context: what is live when it starts.
Whatever a token of the chunk may see is among them, so a chunk may span many reductions, and even traces. The tokens of
a batch are ordered such that chunks with contexts of similar length are neighbours: a bucket is a slice of the batch,
padded to its longest context.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pencil.train.pack import Ints, Packed, join

CHUNKS = ((256, 64), (768, 128))
"""Up to a mean position, how many queries a chunk has; long contexts are worth fewer gathers and more masked pairs."""
LARGEST_CHUNK = 256
SLACK, SLACK_KEYS = 0.9, 32
"""A bucket takes contexts down to this share of its longest, less a few keys; each further bucket costs a call."""


@dataclass(frozen=True)
class Batch:
    """What one step reads: N tokens in chunks of Q, and M to predict."""

    ids: Ints
    """(N,)"""
    positions: Ints
    """(N,)"""
    times: Ints
    """(N,) the packed index of each token, from before the chunks were put in order."""
    ends: Ints
    """(N,) the packed index from which on a token is no longer live."""
    inputs: Ints
    """(M,) after which of the N tokens a target is predicted."""
    targets: Ints
    """(M,)"""
    keys: tuple[Ints, ...]
    """For each bucket (chunks, K): which of the N tokens are keys; -1 is padding."""
    chunk: int
    """Q, the queries of a chunk."""
    packed: int
    """How many of the N tokens are no padding."""


def make_batch(traces: Sequence[Packed], chunk: int | None = None) -> Batch:
    """Traces to chunks, chunks to buckets."""
    packed = join(traces)
    chunk = chunk or chunk_for(packed)
    padding = -len(packed) % chunk
    times = np.arange(len(packed) + padding)
    ends = np.concatenate((packed.ends, times[len(packed) :] + 1))  # padding sees itself: a softmax needs a key
    positions = np.pad(packed.positions, (0, padding))
    contexts = [live_at(ends, start, int(positions[start])) for start in range(0, len(times), chunk)]
    order = np.argsort([-len(context) for context in contexts], kind="stable")
    times = times.reshape(-1, chunk)[order].ravel()  # place in the batch -> packed index
    place = np.argsort(times)  # packed index -> place in the batch
    return Batch(
        ids=np.pad(packed.ids, (0, padding))[times],
        positions=positions[times],
        times=times,
        ends=ends[times],
        inputs=place[packed.inputs],
        targets=packed.targets,
        keys=tuple(_buckets([place[contexts[index]] for index in order], chunk)),
        chunk=chunk,
        packed=len(packed),
    )


def chunk_for(packed: Packed) -> int:
    """Q for contexts of this length; measured on a CPU."""
    mean = packed.positions.mean()
    return next((chunk for most, chunk in CHUNKS if mean <= most), LARGEST_CHUNK)


def live_at(ends: Ints, time: int, count: int) -> Ints:
    """The `count` tokens before a time that are live then; looks further back until it has found them."""
    reach = 2 * count
    while True:
        first = max(0, time - reach)
        live = np.flatnonzero(ends[first:time] > time) + first
        if len(live) >= count:
            return live
        reach *= 2


def _buckets(contexts: Sequence[Ints], chunk: int) -> list[Ints]:
    """Neighbours with contexts of similar length, each (chunks, K): a chunk's own tokens, its context, padding."""
    buckets: list[Ints] = []
    first = 0
    while first < len(contexts):
        longest = len(contexts[first])
        shortest = int(SLACK * longest) - SLACK_KEYS
        last = next((i for i in range(first, len(contexts)) if len(contexts[i]) < shortest), len(contexts))
        keys = np.full((last - first, chunk + longest), -1)
        keys[:, :chunk] = np.arange(first * chunk, last * chunk).reshape(-1, chunk)
        for row, context in zip(keys, contexts[first:last], strict=True):
            row[chunk : chunk + len(context)] = context
        buckets.append(keys)
        first = last
    return buckets
