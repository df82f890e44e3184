"""Rows dealt out among processes: a step of a small model is too short to be worth the threads of one.

No row's tokens enter the logits of another, so who computes it changes nothing but rounding.
"""

import os
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection, wait
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from typing import TypeGuard

import torch
from safetensors.torch import load_file, save_file

from pencil.errors import PencilError
from pencil.generate.engine import Engine
from pencil.generate.events import Event, Stopped, Token
from pencil.generate.limits import Limits
from pencil.model.config import ModelConfig
from pencil.model.int8 import Int8Linear
from pencil.model.protocol import Model
from pencil.model.transformer import Transformer
from pencil.tokens import Marks

WORTH_IT = 16
"""Rows for which a process is worth its start."""
SIGNALS = (signal.SIGINT, signal.SIGTERM)
"""A terminal and a batch system send them to every process; what is to be done about them, the parent decides."""

Said = tuple[Stopped, list[int]]
"""How a row stopped, and all that it said."""
News = int | list[Said] | Exception
"""What a process tells: how many of its rows are done, or in the end what they said, or what went wrong."""
Progress = Callable[[int], None]
"""Called with the number of rows done."""


@dataclass(frozen=True)
class Rows:
    """Prompts, each with its limits, and how a model is to go on from them."""

    prompts: Sequence[Sequence[int]]
    limits: Sequence[Limits]
    marks: Marks[int] | None
    end: int | None
    at_once: int

    def dealt(self, processes: int) -> "list[Rows]":
        """Every so many-th row for each process, and its share of the places."""
        count = min(processes, len(self.prompts), self.at_once)
        places = [len(range(first, self.at_once, count)) for first in range(count)]
        return [
            Rows(self.prompts[first::count], self.limits[first::count], self.marks, self.end, places[first])
            for first in range(count)
        ]

    def run(self, model: Model, progress: Progress) -> list[Said]:
        """All rows to their ends, here."""
        said: list[list[int]] = [[] for _ in self.prompts]
        done = 0

        def watch(row: int, event: Event) -> None:
            nonlocal done
            if isinstance(event, Token):
                said[row].append(event.id)
            elif isinstance(event, Stopped):
                done += 1
                progress(done)

        engine = Engine(model, self.marks, end=self.end, rows=self.at_once)
        return list(zip(engine.run(self.prompts, watch, self.limits), said, strict=True))

    def run_in_processes(self, model: Transformer, progress: Progress, processes: int) -> list[Said]:
        """The same, dealt out; processes are spawned, so a script needs `if __name__ == "__main__":`."""
        parts = self.dealt(processes)
        done, found = [0] * len(parts), dict[int, list[Said]]()
        with _workers(parts, model) as pipes:
            while len(found) < len(parts):
                for pipe in wait([pipe for part, pipe in enumerate(pipes) if part not in found]):
                    assert isinstance(pipe, Connection)
                    part, news = pipes.index(pipe), _receive(pipe)
                    if isinstance(news, int):
                        done[part] = news
                        progress(sum(done))
                    else:
                        found[part] = news
        return [found[row % len(parts)][row // len(parts)] for row in range(len(self.prompts))]


def usual_processes(rows: int) -> int:
    """One for each thread of torch's, if there are rows enough."""
    return max(1, min(torch.get_num_threads(), rows // WORTH_IT))


def can_be_dealt_out(model: Model) -> TypeGuard[Transformer]:
    """Whether other processes can make the same model from its weights."""
    if type(model) is not Transformer or model.embedding.weight.device.type != "cpu":
        return False
    return not any(isinstance(part, Int8Linear) for part in model.modules())


@contextmanager
def _workers(parts: Sequence[Rows], model: Transformer) -> Iterator[list[Connection]]:
    """A process for each part, until the end; what they tell."""
    context, pipes, processes = get_context("spawn"), list[Connection](), []
    with TemporaryDirectory() as folder:
        weights = Path(folder) / "model.safetensors"
        save_file({name: weight.contiguous() for name, weight in model.state_dict().items()}, weights)
        try:
            for rows in parts:
                ours, theirs = context.Pipe(duplex=False)
                process = context.Process(target=_work, args=(rows, model.config, weights, theirs), daemon=True)
                with _signals_held_back():
                    process.start()
                theirs.close()
                pipes.append(ours)
                processes.append(process)
            yield pipes
        finally:
            for process in processes:
                process.kill()
                process.join()


@contextmanager
def _signals_held_back() -> Iterator[None]:
    """A process that is started meanwhile never gets them; here they come a moment later."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _receive(pipe: Connection) -> int | list[Said]:
    try:
        news: News = pipe.recv()
    except (EOFError, OSError):
        raise PencilError("a process of the evaluation was killed; with fewer of them, each has more memory") from None
    if isinstance(news, Exception):
        raise news
    return news


def _work(rows: Rows, config: ModelConfig, weights: Path, parent: Connection) -> None:
    Thread(target=_end_with_parent, daemon=True).start()
    torch.set_num_threads(1)
    try:
        state = load_file(weights)
        model = Transformer(config).to(state["embedding.weight"].dtype)
        model.load_state_dict(state)
        parent.send(rows.run(model, parent.send))
    except Exception as error:
        parent.send(error)


def _end_with_parent() -> None:
    """A parent that is killed leaves nobody behind who works for it."""
    parent = parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)
