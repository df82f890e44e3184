"""Rows dealt out among processes: a step of a small model is too short to be worth the threads of one.

No row's tokens enter the logits of another, so who computes it changes nothing but rounding.
"""

import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import ceil
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait

import torch
from safetensors.torch import load, save

from pencil.errors import PencilError
from pencil.generate.engine import Engine
from pencil.generate.events import Event, Stopped, Token
from pencil.generate.limits import Limits
from pencil.model.config import ModelConfig
from pencil.model.protocol import Model
from pencil.model.transformer import Transformer
from pencil.tokens import Marks

WORTH_IT = 16
"""Rows for which a process is worth its start."""

Said = tuple[Stopped, list[int]]
"""How a row stopped, and all that it said."""
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

    def dealt(self, hands: int) -> "list[Rows]":
        """Every so many-th row for each of the hands."""
        at_once = ceil(self.at_once / hands)
        return [
            Rows(self.prompts[first::hands], self.limits[first::hands], self.marks, self.end, at_once)
            for first in range(min(hands, len(self.prompts)))
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


def usual_processes(rows: int) -> int:
    """One for each thread of torch's, if there are rows enough."""
    return max(1, min(torch.get_num_threads(), rows // WORTH_IT))


def run_apart(rows: Rows, model: Transformer, progress: Progress, processes: int) -> list[Said]:
    """The same, dealt out; processes are spawned, so a script needs `if __name__ == "__main__":`."""
    parts = rows.dealt(processes)
    done, found = [0] * len(parts), dict[int, list[Said]]()
    with _workers(parts, model) as pipes:
        while pipes:
            for pipe in wait(list(pipes)):
                assert isinstance(pipe, Connection)
                part, news = pipes[pipe], _receive(pipe)
                if isinstance(news, int):
                    done[part] = news
                    progress(sum(done))
                else:
                    found[part] = news
                    del pipes[pipe]
    return [found[row % len(parts)][row // len(parts)] for row in range(len(rows.prompts))]


@contextmanager
def _workers(parts: Sequence[Rows], model: Transformer) -> Iterator[dict[Connection, int]]:
    """A process for each part, by what it tells: how many of its rows are done, and in the end how they stopped."""
    context, pipes = get_context("spawn"), dict[Connection, int]()
    weights = save({name: weight.contiguous() for name, weight in model.state_dict().items()})
    processes = []
    try:
        for part, rows in enumerate(parts):
            ours, theirs = context.Pipe(duplex=False)
            process = context.Process(target=_work, args=(rows, model.config, weights, theirs), daemon=True)
            process.start()
            theirs.close()
            processes.append(process)
            pipes[ours] = part
        yield pipes
    finally:
        for process in processes:
            process.terminate()


def _receive(pipe: Connection) -> int | list[Said]:
    try:
        news: int | list[Said] = pipe.recv()
    except EOFError:
        raise PencilError("a process of the evaluation ended early; try fewer of them") from None
    return news


def _work(rows: Rows, config: ModelConfig, weights: bytes, parent: Connection) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal signals every process; the parent stops its workers
    torch.set_num_threads(1)
    model = Transformer(config)
    model.load_state_dict(load(weights))
    parent.send(rows.run(model, parent.send))
