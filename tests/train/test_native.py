import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

from pencil.model.transformer import ModelConfig, Transformer
from pencil.train import native
from pencil.train.attention import ChunkedAttention
from pencil.train.batch import Batch, make_batch
from pencil.train.bf16 import in_bf16
from pencil.train.loss import PackedLoss
from pencil.train.pack import pack
from tests.train.examples import task_trace

CPU = torch.device("cpu")
needs_compiler = pytest.mark.skipif(native.library() is None, reason="no C++ compiler")
HAS_TILES = bool((code := native.library()) and code.has_tiles())
needs_tiles = pytest.mark.skipif(not HAS_TILES, reason="a CPU without AMX")


def some_batch(frames: int = 0, outermost: bool = False) -> Batch:
    traces = [task_trace("qbf", 3), task_trace("sat", 4), task_trace("einstein", 3)]
    seen = frames, outermost
    return make_batch([pack(trace.prompt, trace.generated, trace.marks, None, *seen) for trace in traces], chunk=64)


def attended(batch: Batch, width: int, which: str, way: str, heads: int = 3) -> list[Tensor]:
    """What is mixed, the sums, and the gradients of queries, keys and values, which are views of one tensor."""
    chunks = getattr(batch, which)
    attend = ChunkedAttention(batch, chunks, CPU, torch.float32, native=True)
    generator = torch.Generator().manual_seed(1)
    qkv = torch.randn(len(batch.ids), 3, heads, width, generator=generator, requires_grad=True)
    q, k, v = qkv.unbind(1)
    mixed, sums = getattr(attend, way)(1.5 * q.index_select(0, attend.queries), k, v)
    loss = mixed.sin().sum() + sums.cos().sum()
    return [mixed, sums, *torch.autograd.grad(loss, qkv)[0].unbind(1)]


@needs_compiler
@pytest.mark.parametrize("which", ["every", "last"])
@pytest.mark.parametrize("width", native.WIDTHS)
@pytest.mark.parametrize("sight", [(), (2, True)])
def test_compiled_attention_is_plain_attention(width: int, which: str, sight: tuple[()] | tuple[int, bool]) -> None:
    batch = some_batch(*sight)
    torch.testing.assert_close(*(attended(batch, width, which, way) for way in ("native", "plain")))


@needs_compiler
@pytest.mark.parametrize("which", ["every", "last"])
@pytest.mark.parametrize("width", native.WIDTHS)
def test_in_bfloat16_it_is_about_that_or_where_that_is_no_faster_just_that(width: int, which: str) -> None:
    batch = some_batch()
    exact = attended(batch, width, which, "plain")
    with in_bf16("cpu"):
        rounded = attended(batch, width, which, "native")
    for some, other in zip(exact, rounded, strict=True):
        assert (some - other).norm() < (0.02 if HAS_TILES else 1e-5) * some.norm()
        assert some.allclose(other, rtol=1e-5, atol=1e-5) != HAS_TILES


@needs_compiler
@pytest.mark.parametrize("used", [0, 1])
def test_gradients_of_the_mix_alone_and_of_the_sums_alone(used: int) -> None:
    batch, found = some_batch(), []
    q, k, v = torch.randn(3, len(batch.ids), 2, 32, generator=torch.Generator().manual_seed(1))
    attend = ChunkedAttention(batch, batch.every, CPU, torch.float32, native=True)
    for way in (attend.native, attend.plain):
        leaves = [tensor.detach().requires_grad_() for tensor in (q, k, v)]
        found.append(torch.autograd.grad(way(*leaves)[used].sin().sum(), leaves, materialize_grads=True))
    torch.testing.assert_close(*found)


@needs_compiler
@pytest.mark.parametrize("way", ["native", pytest.param("bf16", marks=needs_tiles)])
def test_heads_shared_by_threads_have_the_same_bits(way: str) -> None:
    batch, found, before = some_batch(), [], torch.get_num_threads()
    for threads in (1, 2, 5):
        torch.set_num_threads(threads)
        with torch.autocast("cpu", torch.bfloat16, enabled=way == "bf16"):
            found.append(attended(batch, 32, "every", "native"))
    torch.set_num_threads(before)
    for some in found[1:]:
        torch.testing.assert_close(some, found[0], rtol=0, atol=0)


@needs_compiler
@pytest.mark.parametrize("frames", [0, 1])
def test_queries_see_what_was_live_in_their_frames(frames: int) -> None:
    batch = some_batch(frames)
    found = native.Sight(batch, batch.last)
    queries = batch.last.queries.reshape(found.chunks, found.size)
    for chunk, keys in enumerate(row[row >= 0] for some in batch.last.keys for row in some):
        now, outer, start = (array[queries[chunk]][:, None] for array in (batch.times, *batch.seen.T))
        sees = (batch.times[keys] <= now) & (now < batch.ends[keys])
        sees &= (batch.positions[keys] < outer) | (batch.positions[keys] >= start)
        first, last = found.starts[chunk : chunk + 2] * found.size // 32
        bits = found.seen[first:last].reshape(found.size // 32, -1)[:, : len(keys)]  # the rest is filled up
        assert (np.bitwise_count(found.seen[first:last]).sum()) == sees.sum()
        unpacked = bits[:, None, :] >> np.arange(32, dtype=np.uint32)[None, :, None] & 1
        assert (unpacked.reshape(found.size, -1) == sees).all()


@needs_compiler
def test_a_loss_has_the_same_gradients_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    model = Transformer(ModelConfig(160, n_layers=3, d_model=64, n_heads=2, context=1024, recent=2), seed=3)
    batch, weights, found = some_batch(), list(model.parameters()), []
    for compiled in (True, False):
        loss = PackedLoss(model, compiled)(batch).total
        found.append([loss, *torch.autograd.grad(loss, weights)])
        monkeypatch.setattr(ChunkedAttention, "native", lambda *_: pytest.fail("the compiled code was used"))
    for exact, other in zip(*found, strict=True):
        assert (exact - other).norm() <= 1e-4 * exact.norm()


@pytest.fixture
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    native.library.cache_clear()
    yield tmp_path / "pencil"
    native.library.cache_clear()


@needs_compiler
def test_it_is_compiled_once(empty_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert native.library() is not None
    [made] = empty_cache.iterdir()  # and no file that was left over
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: pytest.fail("it was compiled again"))
    native.library.cache_clear()
    assert native.library() is not None
    assert [*empty_cache.iterdir()] == [made]


@pytest.mark.usefixtures("empty_cache")
def test_without_a_compiler_or_with_a_broken_one_torch_does_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert native.library() is None
    batch = some_batch()
    attend = ChunkedAttention(batch, batch.every, CPU, torch.float32, native=True)
    q, k, v = torch.randn(3, len(batch.ids), 2, 32)
    torch.testing.assert_close(attend(0, q, k, v), attend.fused(q, k, v)[0])
    monkeypatch.setattr(shutil, "which", lambda name: "false")
    native.library.cache_clear()
    assert native.library() is None


@pytest.mark.usefixtures("empty_cache")
def test_a_cache_that_cannot_be_written_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert native.library() is None
