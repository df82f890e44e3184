"""Datasets on disk: one JSON line for each instance, resumable, the same bytes whatever the number of workers.

A directory holds `meta.json`, which says what was asked for, and `data.jsonl`, which appears when it is whole;
until then the lines made so far are in `data.jsonl.partial`.
"""

import json
import multiprocessing
import signal
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

from pencil.errors import PencilError
from pencil.files import failure, sync, write_atomically
from pencil.tasks.base import Task
from pencil.tokens import join

CHUNK = 16  # instances made at a time by one worker


class DatasetError(PencilError):
    """A directory that cannot take the dataset that was asked for."""


@dataclass(frozen=True)
class DatasetSpec:
    """What a dataset holds; two equal specs give the same bytes."""

    task: str
    size: int
    settings: dict[str, Any]
    count: int
    seed: int


def record(task: Task[Any], seed: int, index: int) -> dict[str, Any]:
    """One instance of a dataset as plain data."""
    trace = task.trace(task.draw(seed, index))
    stats = trace.stats()
    return {
        "index": index,
        "prompt": join(trace.prompt),
        "trace": join(trace.generated),
        "answer": task.answer(trace.final),
        "tokens": stats.tokens,
        "peak": stats.peak,
        "reductions": stats.reductions,
    }


def write_dataset(
    task: Task[Any],
    count: int,
    seed: int,
    out: Path,
    workers: int = 1,
    progress: Callable[[int], None] = lambda done: None,
) -> Path:
    """Write, or go on writing, `count` instances to `out`; calls back with the number of instances done."""
    spec = DatasetSpec(task.name, task.size, task.settings, count, seed)
    try:
        _claim(out, spec)
        return _write(task, spec, out, workers, progress)
    except OSError as error:
        raise DatasetError(f"{failure(error, out)}, expected a place for a dataset; try another -o") from None
    except ValueError as error:
        raise DatasetError(f"{out / 'meta.json'}: found {error}, expected what a dataset is; try another -o") from None


def _claim(out: Path, spec: DatasetSpec) -> None:
    """Make the directory, or see that it holds the beginning of this very dataset."""
    meta = out / "meta.json"
    out.mkdir(parents=True, exist_ok=True)
    if meta.exists():
        found = json.loads(meta.read_text())
        wanted = asdict(spec)
        for name in wanted:
            if found.get(name) != wanted[name]:
                difference = f"{name} {found.get(name)}, not {wanted[name]}"
                raise DatasetError(f"{out} holds another dataset, with {difference}; choose another directory")
    elif any(out.iterdir()):
        raise DatasetError(f"{out} is not empty and holds no dataset; choose an empty or a new directory")
    else:
        write_atomically(meta, json.dumps(asdict(spec)) + "\n")


def _write(task: Task[Any], spec: DatasetSpec, out: Path, workers: int, progress: Callable[[int], None]) -> Path:
    """The lines that are missing, then the file's final name."""
    final, unfinished = out / "data.jsonl", out / "data.jsonl.partial"
    if not final.exists():
        with unfinished.open("a+b") as file:
            done = _drop_broken_line(file)
            progress(done)
            for lines in _chunks(task, spec.seed, done, spec.count, workers):
                file.write(lines.encode())
                done += lines.count("\n")
                progress(done)
        sync(unfinished)
        unfinished.rename(final)
        sync(out)
    progress(spec.count)
    return final


def _drop_broken_line(file: BinaryIO) -> int:
    """Cut off a line that an interruption left unfinished; the number of whole lines."""
    file.seek(0)
    whole_lines, whole_bytes = 0, 0
    for line in file:
        if line.endswith(b"\n"):
            whole_lines, whole_bytes = whole_lines + 1, whole_bytes + len(line)
    file.truncate(whole_bytes)
    file.seek(whole_bytes)
    return whole_lines


def _chunks(task: Task[Any], seed: int, start: int, stop: int, workers: int) -> Iterator[str]:
    """Lines from `start` to `stop` in order, a few instances at a time."""
    make = partial(_lines, task, seed, stop)
    with _mapper(workers) as in_order:
        yield from in_order(make, range(start, stop, CHUNK))


def _lines(task: Task[Any], seed: int, stop: int, first: int) -> str:
    records = (record(task, seed, index) for index in range(first, min(first + CHUNK, stop)))
    return "".join(json.dumps(entry, ensure_ascii=False) + "\n" for entry in records)


@contextmanager
def _mapper(workers: int) -> Iterator[Callable[[Callable[[int], str], Iterable[int]], Iterable[str]]]:
    """A `map` that keeps the order: plain for one worker, a pool of processes for more."""
    if workers <= 1:
        yield map
        return
    with multiprocessing.get_context("spawn").Pool(workers, initializer=_leave_interrupts_to_the_parent) as pool:
        yield pool.imap


def _leave_interrupts_to_the_parent() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
