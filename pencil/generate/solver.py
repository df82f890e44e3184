"""Text in, text out: a trained checkpoint as something that solves problems.

import pencil
solver = pencil.load("sat3")
print(solver.solve("p cnf 3 2\\n1 -2 3 0\\n-1 2 3 0").answer)
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pencil.errors import CheckpointError, ConfigError, PencilError
from pencil.generate.engine import Engine, Watch
from pencil.generate.events import Event, Stopped
from pencil.generate.limits import Limits
from pencil.generate.sample import GREEDY, Sampling
from pencil.model.checkpoint import Checkpoint, read
from pencil.tasks import Task, get_task
from pencil.tokens import join
from pencil.trace import Trace

PATIENT = Limits(repeats=32)
"""Stops a model that goes round in circles."""


@dataclass(frozen=True)
class Solution:
    """What a model made of a problem."""

    answer: str | None
    """None where the response states no answer, or where the model did not come to an end."""
    text: str
    """The whole response, thoughts erased."""
    stopped: Stopped
    """How it ended, and how long it took: tokens, peak, reductions."""


class Solver:
    """A model with its task: problems as text or as instances, answers as text."""

    def __init__(
        self, checkpoint: Checkpoint, *, rows: int = 32, sampling: Sampling = GREEDY, limits: Limits = PATIENT
    ) -> None:
        self.checkpoint, self.vocab = checkpoint, checkpoint.vocab
        self.task: Task[Any] = get_task(checkpoint.task, max(checkpoint.sizes))
        if self.task.vocab != self.vocab:
            raise CheckpointError(
                f"found other words in the checkpoint than those of {self.task.name} at size {self.task.size};"
                " it was made by another version of this task, so train it again"
            )
        self.engine = Engine(
            checkpoint.model,
            self.vocab.marks if checkpoint.format == "pencil" else None,
            end=self.vocab.end,
            rows=rows,
            sampling=sampling,
            limits=limits,
        )

    def solve(self, problem: Any) -> Solution:
        """One problem: text in the task's wording or file format, or an instance."""
        return self.solve_many([problem])[0]

    def solve_many(self, problems: Iterable[Any], progress: Watch | None = None) -> list[Solution]:
        """Many problems at once; `progress` gets each one's index and events."""
        return [self.read(stopped) for stopped in self.engine.run([self.pose(p) for p in problems], progress)]

    def stream(self, problem: Any) -> Iterator[Event]:
        """The events of one problem, as they happen; ids are words of `vocab`."""
        return self.engine.stream(self.pose(problem))

    def pose(self, problem: Any) -> list[int]:
        """A problem as the ids of its prompt."""
        instance = self.task.parse(problem) if isinstance(problem, str) else problem
        return self.vocab.encode(self.task.prompt(instance))

    def read(self, stopped: Stopped) -> Solution:
        """What the model's last words say."""
        words = self.vocab.decode(stopped.response)
        final = Trace((), tuple(words)).final if self.checkpoint.format == "cot" else words
        answer = self.task.answer(final) if stopped.reason == "end" else None
        return Solution(answer, join(words), stopped)


def load(directory: str | Path, **settings: Any) -> Solver:
    """A solver from a checkpoint directory; `settings` are those of `Solver`."""
    checkpoint = read(Path(directory))
    try:
        return Solver(checkpoint, **settings)
    except ConfigError:
        raise  # the settings are at fault, not the directory
    except PencilError as error:
        raise CheckpointError(f"{directory}: {error}") from None
