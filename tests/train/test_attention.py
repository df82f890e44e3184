import numpy as np
import pytest
import torch
from torch import Tensor

from pencil.train.attention import ChunkedAttention
from pencil.train.batch import make_batch
from pencil.train.bf16 import in_bf16
from pencil.train.pack import Ints, pack
from tests.train.examples import task_trace

HEADS, WIDTH = 3, 4


def overheard(
    chunk: int, dtype: torch.dtype = torch.float64, which: str = "every"
) -> tuple[ChunkedAttention, tuple[Tensor, Tensor, Tensor], Ints]:
    """A batch of two traces, random queries, keys and values, and looks: a query, a head and a key."""
    traces = [task_trace("qbf", 2), task_trace("sat", 3)]
    batch = make_batch([pack(trace.prompt, trace.generated, trace.marks) for trace in traces], chunk)
    attend = ChunkedAttention(batch, getattr(batch, which), torch.device("cpu"), dtype)
    generator = torch.Generator().manual_seed(1)
    q, k, v = torch.randn(3, len(batch.ids), HEADS, WIDTH, dtype=dtype, generator=generator)
    seen = (batch.times[None] <= batch.times[:, None]) & (batch.times[:, None] < batch.ends[None])
    query, key = np.nonzero(seen)
    some = np.random.default_rng(1).choice(len(query), 500, replace=False)
    return attend, (q, k, v), np.column_stack((query[some], some % HEADS, key[some]))


def test_attention_that_is_overheard_is_the_same() -> None:
    attend, qkv, looks = overheard(chunk=16)
    mixed, _ = attend.overhear(*qkv, looks)
    assert len(attend.buckets) > 1
    torch.testing.assert_close(mixed, attend(0, *qkv))


def test_shares_are_those_of_the_keys_that_a_query_and_a_head_look_at() -> None:
    attend, qkv, looks = overheard(chunk=16)
    _, shares = attend.overhear(*qkv, looks)
    pairs = np.unique(looks[:, :2], axis=0)
    assert len(shares) == len(pairs) < len(looks)
    q, k, v = qkv
    for (query, head), share in zip(pairs, shares, strict=True):
        keys = looks[(looks[:, :2] == (query, head)).all(1), 2]
        value = torch.zeros_like(v)
        value[keys] = 1.0  # so that what is mixed is the share itself
        torch.testing.assert_close(attend(0, q, k, value)[query, head, 0].log(), share)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("of_mixed", [1.0, 0.0])
@pytest.mark.parametrize("of_sums", [1.0, 0.0])
def test_fused_attention_has_the_sums_and_gradients_of_plain_attention(
    of_mixed: float, of_sums: float, dtype: torch.dtype
) -> None:
    attend, qkv, _ = overheard(chunk=16, dtype=dtype)
    found = []
    for way in (attend.fused, attend.plain):
        leaves = [tensor.detach().requires_grad_() for tensor in qkv]
        mixed, sums = way(*leaves)
        loss = of_mixed * mixed.sin().sum() + of_sums * sums.cos().sum()
        found.append([mixed, sums, *torch.autograd.grad(loss, leaves)])
    torch.testing.assert_close(*found)


@pytest.mark.parametrize("used", [0, 1])
def test_gradients_of_the_mix_alone_and_of_the_sums_alone(used: int) -> None:
    attend, qkv, _ = overheard(chunk=16)
    found = []
    for way in (attend.fused, attend.plain):
        leaves = [tensor.detach().requires_grad_() for tensor in qkv]
        found.append(torch.autograd.grad(way(*leaves)[used].sin().sum(), leaves, materialize_grads=True))
    torch.testing.assert_close(*found)


def test_without_the_kernel_for_cpus_attention_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    attend, qkv, looks = overheard(chunk=16)
    fused = [attend(0, *qkv), *attend.overhear(*qkv, looks)]
    monkeypatch.setattr(ChunkedAttention, "_on_cpu", False)
    monkeypatch.setattr(ChunkedAttention, "fused", lambda *_: pytest.fail("the kernel was used"))
    torch.testing.assert_close([attend(0, *qkv), *attend.overhear(*qkv, looks)], fused)


def test_among_products_in_bfloat16_it_takes_what_comes_and_is_about_the_same() -> None:
    attend, (q, k, v), looks = overheard(chunk=16, dtype=torch.float32)
    exact = [attend(0, q, k, v), *attend.overhear(q, k, v, looks)]
    with in_bf16("cpu"):
        rounded = [attend(0, q, k, v.bfloat16()), *attend.overhear(q, k, v, looks)]
    torch.testing.assert_close(rounded, exact, atol=0.05, rtol=0.02)
