"""The tasks of the paper, by name."""

from inspect import signature
from typing import Any

from pencil.errors import PencilError
from pencil.tasks.base import Format, Task
from pencil.tasks.einstein import Einstein
from pencil.tasks.qbf import Qbf
from pencil.tasks.sat import Sat

TASKS: dict[str, type[Task[Any]]] = {task.name: task for task in (Sat, Qbf, Einstein)}


def get_task(name: str, size: int | None = None, **settings: bool) -> Task[Any]:
    """A task by its name, at a size or at its default one, with settings of its own."""
    if name not in TASKS:
        raise PencilError(f"found no task {name!r}, expected one of {', '.join(TASKS)}")
    for setting in settings:
        if setting not in signature(TASKS[name]).parameters:
            raise PencilError(f"{name} has no setting {setting}; leave it out")
    return TASKS[name](size, **settings)


__all__ = ["TASKS", "Format", "Task", "get_task"]
