"""The tasks of the paper, by name."""

from pencil.tasks.base import Format, Task

__all__ = ["Format", "Task"]
