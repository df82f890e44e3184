"""Attention in C++, compiled for the machine that trains: forward and backward without gathers, masks or scores.

It is compiled the first time it is asked for, if there is a compiler; otherwise torch's own operations do the same,
a few times slower. Nothing is ever downloaded, and what was compiled is kept in the user's cache.

Shapes in comments: N packed tokens, A that ask, in chunks of Q, H heads of width E.
"""

import ctypes
import os
import platform
import shutil
import subprocess
import tempfile
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from pencil.train.batch import Batch, Chunks
from pencil.train.pack import Ints

SOURCE = Path(__file__).with_suffix(".cpp")
COMPILERS = ("c++", "g++", "clang++")
FLAGS = ("-std=c++17", "-O3", "-march=native", "-shared", "-fPIC", "-pthread")
WIDTHS = (32, 64)
"""Of heads, that it is compiled for."""
QUERIES = KEYS = 32
"""A chunk has a multiple of so many."""


@cache
def library() -> ctypes.CDLL | None:
    """The compiled code, or None where it cannot be made."""
    compiler = next(filter(None, map(shutil.which, (os.environ.get("CXX", ""), *COMPILERS))), None)
    if compiler is None:
        return None
    identity = "\n".join((SOURCE.read_text(encoding="utf-8"), compiler, *FLAGS, _cpu()))
    place = _home() / f"attention-{blake2b(identity.encode(), digest_size=8).hexdigest()}.so"
    try:
        if not place.exists():
            _compile(compiler, place)
        return ctypes.CDLL(str(place))
    except (OSError, subprocess.SubprocessError):
        return None


def _home() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "pencil"


def _cpu() -> str:
    """What code for this machine may use; a home may be shared by machines that differ."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    return next((line for line in lines if line.startswith(("flags", "Features"))), platform.processor())


def _compile(compiler: str, place: Path) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=place.parent) as directory:
        made = Path(directory) / place.name
        subprocess.run([compiler, *FLAGS, str(SOURCE), "-o", str(made)], check=True, capture_output=True)
        made.replace(place)


class Problem(ctypes.Structure):
    """What the C++ calls so: sizes, and where arrays start."""

    _fields_ = (
        *((name, ctypes.c_int64) for name in ("heads", "width", "chunks", "size")),
        *((name, ctypes.c_void_p) for name in ("starts", "keys", "seen", "q", "k", "v")),
        *((name, ctypes.c_int64) for name in ("q_step", "k_step", "v_step")),
        *((name, ctypes.c_void_p) for name in ("mixed", "sums", "of_mixed", "offset", "of_q", "of_k", "of_v")),
        *((name, ctypes.c_int64) for name in ("bf16", "threads")),
    )


class Sight:
    """Which queries see which keys, a bit for each pair; made once for all layers."""

    def __init__(self, batch: Batch, chunks: Chunks) -> None:
        keys = [_fill(row[row >= 0]) for some in chunks.keys for row in some]
        self.chunks, self.size = len(keys), len(chunks.queries) // len(keys)
        self.starts = np.cumsum([0, *map(len, keys)])
        self.keys = np.concatenate(keys).astype(np.int32)  # -1 where a chunk was filled up
        self.seen = np.empty(self.starts[-1] * self.size // QUERIES, np.uint32)
        told = (chunks.queries, batch.times, batch.ends, batch.positions, *batch.seen.T)
        arrays = [np.ascontiguousarray(array, np.int32) for array in told]
        code = library()
        assert code is not None
        code.find_seen(
            *(ctypes.c_int64(number) for number in (self.chunks, self.size)),
            *(ctypes.c_void_p(array.ctypes.data) for array in (self.starts, self.keys, *arrays, self.seen)),
        )
        self.keys.clip(0, out=self.keys)

    def problem(self, q: Tensor, k: Tensor, v: Tensor, mixed: Tensor, sums: Tensor, bf16: bool) -> Problem:
        """The forward pass; with gradients named, too, it is the backward pass."""
        return Problem(
            *(q.shape[1], q.shape[2], self.chunks, self.size),
            *(array.ctypes.data for array in (self.starts, self.keys, self.seen)),
            *(some.data_ptr() for some in (q, k, v)),
            *(some.stride(0) for some in (q, k, v)),
            *(mixed.data_ptr(), sums.data_ptr()),
            bf16=bf16,
            threads=torch.get_num_threads(),
        )


def _fill(keys: Ints) -> Ints:
    """Up to a multiple of 32 with -1, which nobody sees."""
    return np.pad(keys, (0, -len(keys) % KEYS), constant_values=-1)


class NativeAttention(torch.autograd.Function):
    """Queries (A, H, E), keys and values (N, H, E) -> mixed values (A, H, E), logarithms of the sums (A, H)."""

    @staticmethod
    def forward(ctx: Any, q: Tensor, k: Tensor, v: Tensor, sight: Sight, bf16: bool) -> tuple[Tensor, Tensor]:
        """Nothing is kept of what a query made of a key."""
        q, k, v = map(_by_token, (q, k, v))
        mixed, sums = q.new_empty(q.shape), q.new_empty(q.shape[:2])
        _attend(sight.problem(q, k, v, mixed, sums, bf16))
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(q, k, v, mixed, sums)
        ctx.sight, ctx.bf16 = sight, bf16
        return mixed, sums

    @staticmethod
    def backward(ctx: Any, of_mixed: Tensor | None, of_sums: Tensor | None) -> tuple[Tensor | None, ...]:
        """A score's gradient is its weight times what it mixes, less what all of its query's mix on average."""
        q, k, v, mixed, sums = ctx.saved_tensors
        outer = torch.zeros_like(mixed) if of_mixed is None else of_mixed.float().contiguous()
        offset = (outer * mixed).sum(-1)  # (A, H) that average
        if of_sums is not None:
            offset -= of_sums
        of_q, of_k, of_v = q.new_empty(q.shape), k.new_zeros(k.shape), v.new_zeros(v.shape)
        problem = ctx.sight.problem(q, k, v, mixed, sums, ctx.bf16)
        places = {"of_mixed": outer, "offset": offset, "of_q": of_q, "of_k": of_k, "of_v": of_v}
        for name, tensor in places.items():
            setattr(problem, name, tensor.data_ptr())
        _attend(problem)
        return of_q, of_k, of_v, None, None


def _by_token(tokens: Tensor) -> Tensor:
    """In float32, a token's heads after each other."""
    tokens = tokens.float()
    return tokens if tokens.stride()[1:] == (tokens.shape[2], 1) else tokens.contiguous()


def _attend(problem: Problem) -> None:
    code = library()
    assert code is not None
    code.attend(ctypes.byref(problem))
