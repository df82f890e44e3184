from collections.abc import Sequence
from itertools import combinations, pairwise
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from pencil.model.config import ModelConfig
from pencil.model.surroundings import find_rows
from pencil.train.batch import Batch, Chunks, cheapest_slices, chunk_for, live_at, make_batch
from pencil.train.pack import Packed, join, pack
from tests.train.examples import all_traces, task_trace

SHORT = [trace for trace in all_traces().values() if len(trace) < 1_000]
PARTS = [pack(trace.prompt, trace.generated, trace.marks) for trace in SHORT]
NEAR = [pack(trace.prompt, trace.generated, trace.marks, frames=2) for trace in SHORT]
OUTER = [pack(trace.prompt, trace.generated, trace.marks, frames=1, outermost=True) for trace in SHORT]


def seen_pairs(batch: Batch, chunks: Chunks) -> set[tuple[int, int]]:
    """Which packed token sees which, read off the keys of the chunks."""
    pairs = set()
    rows = [row for keys in chunks.keys for row in keys]
    for times, keys in zip(batch.times[chunks.queries].reshape(len(rows), -1), rows, strict=True):
        real = keys[keys >= 0]
        assert len(set(real.tolist())) == len(real)
        for time in times:
            [[outer, start]], places = batch.seen[batch.times == time], batch.positions[real]
            framed = (places < outer) | (places >= start)
            visible = real[(batch.times[real] <= time) & (time < batch.ends[real]) & framed]
            pairs |= {(int(time), int(key)) for key in batch.times[visible]}
    return pairs


@pytest.mark.parametrize("parts", [PARTS, NEAR, OUTER], ids=["all frames", "two frames", "own and outermost frame"])
@pytest.mark.parametrize("chunk", [1, 7, 64, 1024])
def test_a_chunk_holds_every_key_that_its_tokens_see(chunk: int, parts: list[Packed]) -> None:
    packed = join(parts)
    expected = {(int(i), int(j)) for i, j in zip(*np.nonzero(packed.sees()), strict=True)}
    batch = make_batch(parts, chunk)
    padding = {(i, i) for i in range(len(packed), len(batch.ids))}
    assert seen_pairs(batch, batch.every) == expected | padding
    inputs = set(packed.inputs.tolist())
    assert seen_pairs(batch, batch.last) == {(i, j) for i, j in expected if i in inputs}


def test_all_tokens_ask_in_the_order_of_the_batch() -> None:
    batch = make_batch(PARTS, 16)
    assert batch.every.queries.tolist() == list(range(len(batch.ids)))


def test_tokens_and_targets_survive_the_new_order() -> None:
    packed, batch = join(PARTS), make_batch(PARTS, 16)
    in_order = np.argsort(batch.times)[: len(packed)]
    assert (batch.ids[in_order] == packed.ids).all()
    assert (batch.positions[in_order] == packed.positions).all()
    assert (batch.times[batch.last.queries[batch.inputs]] == packed.inputs).all()
    assert (batch.read == packed.ids[packed.inputs]).all()
    assert batch.packed == len(packed)
    assert (batch.targets == packed.targets).all()


@pytest.mark.parametrize(("pairs", "frames"), [(False, 0), (True, 0), (True, 2)])
def test_surroundings_are_those_of_the_live_sequence(pairs: bool, frames: int) -> None:
    around: dict[str, Any] = {"recent": 3, "pairs": pairs, "levels": 2, "places": 50, "frames": frames}
    config = ModelConfig(160, n_layers=1, d_model=2, n_heads=1, **around)
    traces = [task_trace("sat", 3, index) for index in range(2)]
    parts = [pack(trace.prompt, trace.generated, trace.marks) for trace in traces]
    packed, batch = join(parts), make_batch(parts, 16)
    found = batch.surroundings(config)[np.argsort(batch.times)]
    for rows, seen in zip(found, packed.sees(), strict=False):  # padding comes last
        live = torch.from_numpy(packed.ids[seen])
        assert rows.tolist() == find_rows(live, config)[-1].tolist()


def test_frames_that_are_not_seen_are_not_read() -> None:
    trace = task_trace("sat", 5)
    far, near = (pack(trace.prompt, trace.generated, trace.marks, frames=frames) for frames in (0, 2))
    read = [sum((keys >= 0).sum() for keys in make_batch([packed], 64).every.keys) for packed in (far, near)]
    assert read[1] < 0.8 * read[0]


def test_buckets_pad_little() -> None:
    traces = [task_trace("qbf", 5, index) for index in range(4)]
    batch = make_batch([pack(trace.prompt, trace.generated, trace.marks) for trace in traces])
    keys = sum(keys.size for keys in batch.every.keys)
    assert sum((keys < 0).sum() for keys in batch.every.keys) < 0.1 * keys
    assert len(batch.every.keys) < 15


@given(st.lists(st.integers(1, 50), min_size=1, max_size=8), st.integers(0, 60))
def test_slices_cost_least(lengths: list[int], call: int) -> None:
    lengths.sort(reverse=True)

    def cost(cuts: Sequence[int]) -> int:
        return sum((last - first) * lengths[first] + call for first, last in pairwise((0, *cuts, len(lengths))))

    inner = range(1, len(lengths))
    cheapest = min(cost(cuts) for count in range(len(lengths)) for cuts in combinations(inner, count))
    assert cost([first for first, _ in cheapest_slices(lengths, call)][1:]) == cheapest


def test_live_tokens_are_found_far_back() -> None:
    ends = np.array([1000, *range(2, 901), 1000])
    assert live_at(ends, 900, 1).tolist() == [0]


def test_long_contexts_get_long_chunks() -> None:
    assert [chunk_for(pack([9], [8] * length, None)) for length in (100, 1000, 4000)] == [64, 128, 256]
