import numpy as np
import pytest
import torch
from torch import Tensor

from pencil.train.attention import ChunkedAttention, attend_and_sum, plainly_attend_and_sum
from pencil.train.batch import make_batch
from pencil.train.pack import Ints, pack
from tests.train.examples import task_trace

HEADS, WIDTH = 3, 4


def overheard(chunk: int) -> tuple[ChunkedAttention, tuple[Tensor, Tensor, Tensor], Ints]:
    """A batch of two traces, random queries, keys and values, and looks: a query, a head and a key."""
    traces = [task_trace("qbf", 2), task_trace("sat", 3)]
    batch = make_batch([pack(trace.prompt, trace.generated, trace.marks) for trace in traces], chunk)
    attend = ChunkedAttention(batch, batch.every, torch.device("cpu"), torch.float64)
    generator = torch.Generator().manual_seed(1)
    q, k, v = torch.randn(3, len(batch.ids), HEADS, WIDTH, dtype=torch.float64, generator=generator)
    seen = (batch.times[None] <= batch.times[:, None]) & (batch.times[:, None] < batch.ends[None])
    query, key = np.nonzero(seen)
    some = np.random.default_rng(1).choice(len(query), 500, replace=False)
    return attend, (q, k, v), np.column_stack((query[some], some % HEADS, key[some]))


def test_attention_that_is_overheard_is_the_same() -> None:
    attend, qkv, looks = overheard(chunk=16)
    mixed, _ = attend.overhear(*qkv, looks)
    assert len(attend.masks) > 1
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
    attend, qkv, _ = overheard(chunk=16)
    found = []
    for way in (attend_and_sum, plainly_attend_and_sum):
        leaves = [tensor.detach().to(dtype).requires_grad_() for tensor in qkv]
        parts = [way(*part, mask.to(dtype)) for mask, part in zip(attend.masks, attend._parts(*leaves), strict=True)]
        loss = sum(of_mixed * mixed.sin().sum() + of_sums * sums.cos().sum() for mixed, sums in parts)
        assert isinstance(loss, Tensor)
        found.append([*(tensor for part in parts for tensor in part), *torch.autograd.grad(loss, leaves)])
    torch.testing.assert_close(*found)


def test_attention_in_mixed_precision_is_plain() -> None:
    attend, (q, k, v), looks = overheard(chunk=16)
    with torch.autocast("cpu", torch.bfloat16):
        mixed, shares = attend.overhear(q.float(), k.float(), v.bfloat16(), looks)
    torch.testing.assert_close(mixed.double(), attend(0, q, k, v), atol=0.05, rtol=0)
    assert shares.isfinite().all()
