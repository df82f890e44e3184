import numpy as np
import pytest

from pencil.train.batch import Batch, chunk_for, live_at, make_batch
from pencil.train.pack import Packed, join, pack
from tests.train.examples import all_traces, task_trace

PARTS = [pack(trace.prompt, trace.generated, trace.marks) for trace in all_traces().values()]


def seen_pairs(batch: Batch) -> set[tuple[int, int]]:
    """Which packed token sees which, read off the keys of the chunks."""
    pairs = set()
    chunks = batch.times.reshape(-1, batch.chunk)
    rows = [row for keys in batch.keys for row in keys]
    for times, keys in zip(chunks, rows, strict=True):
        real = keys[keys >= 0]
        assert len(set(real.tolist())) == len(real)
        for time in times:
            visible = real[(batch.times[real] <= time) & (time < batch.ends[real])]
            pairs |= {(int(time), int(key)) for key in batch.times[visible]}
    return pairs


@pytest.mark.parametrize("chunk", [1, 7, 64, 1024])
def test_a_chunk_holds_every_key_that_its_tokens_see(chunk: int) -> None:
    packed = join(PARTS)
    expected = {(int(i), int(j)) for i, j in zip(*np.nonzero(packed.sees()), strict=True)}
    batch = make_batch(PARTS, chunk)
    padding = {(i, i) for i in range(len(packed), len(batch.ids))}
    assert seen_pairs(batch) == expected | padding


def test_tokens_and_targets_survive_the_new_order() -> None:
    packed, batch = join(PARTS), make_batch(PARTS, 16)
    in_order = np.argsort(batch.times)[: len(packed)]
    assert (batch.ids[in_order] == packed.ids).all()
    assert (batch.positions[in_order] == packed.positions).all()
    assert (batch.times[batch.inputs] == packed.inputs).all()
    assert batch.packed == len(packed)
    assert (batch.targets == packed.targets).all()


def test_buckets_pad_little() -> None:
    traces = [task_trace("qbf", 5, index) for index in range(4)]
    batch = make_batch([pack(trace.prompt, trace.generated, trace.marks) for trace in traces])
    keys = sum(keys.size for keys in batch.keys)
    assert sum((keys < 0).sum() for keys in batch.keys) < 0.15 * keys
    assert len(batch.keys) < 12


def test_live_tokens_are_found_far_back() -> None:
    ends = np.array([1000, *range(2, 901), 1000])
    assert live_at(ends, 900, 1).tolist() == [0]


def test_long_contexts_get_long_chunks() -> None:
    lengths = (100, 1000, 4000)
    assert [chunk_for(Packed(*[np.arange(length)] * 5)) for length in lengths] == [64, 128, 256]
