"""Held-out instances: which prompts are never trained on follows from the prompt itself, so the sets cannot meet."""

from collections.abc import Sequence
from hashlib import blake2b
from random import Random
from typing import TypeVar

from pencil.errors import PencilError
from pencil.tasks import Task
from pencil.tokens import join

Instance = TypeVar("Instance")

HELD_OUT = 8
"""One prompt in this many is held out."""
MOST_DRAWS = 10_000
"""Without an instance of the right side among so many, a task is too small to be split."""


def is_held_out(prompt: Sequence[str]) -> bool:
    """Whether a prompt is for evaluation only.

    >>> sum(is_held_out([str(number)]) for number in range(8000))
    1022
    """
    digest = blake2b(join(prompt).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") % HELD_OUT == 0


def draw(task: Task[Instance], rng: Random, *, held_out: bool) -> Instance:
    """A random instance for training or for evaluation."""
    for _ in range(MOST_DRAWS):
        instance = task.sample(rng)
        if is_held_out(task.prompt(instance)) == held_out:
            return instance
    side = "evaluate" if held_out else "train"
    raise PencilError(f"{task.name} of size {task.size} has no prompt left to {side} on; try a larger size")
