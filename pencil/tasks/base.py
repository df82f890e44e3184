"""What a task is: instances to sample or parse, a prompt, and a reasoner that writes the trace."""

import sys
from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property
from io import TextIOWrapper
from pathlib import Path
from random import Random
from typing import Any, ClassVar, Generic, Literal, TypeVar

from pencil.errors import ConfigError, ParseError, SizeError
from pencil.tasks.hints import LAYERS, Hint
from pencil.tokens import END, PROMPT_END, START, Vocab
from pencil.trace import Trace, TraceWriter

STDIN = Path("-")
Instance = TypeVar("Instance")
Format = Literal["pencil", "cot", "direct"]
"""The same trace with thoughts erased, the same trace with nothing erased, or the answer at once."""


class Task(ABC, Generic[Instance]):
    """A family of problems of one size; a subclass names its words and says how to sample, pose and reason.

    Torch-free: instances in, words out. Everything sampled follows from the `Random` it is given.
    """

    name: ClassVar[str]
    sizes: ClassVar[range]
    """The sizes that can be sampled."""
    default_size: ClassVar[int]

    def __init__(self, size: int | None = None) -> None:
        self.size = self.default_size if size is None else size
        if self.size not in self.sizes:
            smallest, largest = self.sizes[0], self.sizes[-1]
            raise SizeError(f"{self.name} has no size {self.size}; try one from {smallest} to {largest}")

    @property
    def settings(self) -> dict[str, Any]:
        """What besides the size decides which instances and traces there are."""
        return {}

    @property
    @abstractmethod
    def words(self) -> tuple[str, ...]:
        """The closed vocabulary, without the special words; that of a larger size holds that of a smaller one."""

    @abstractmethod
    def sample(self, rng: Random) -> Instance:
        """A random instance; the labels are balanced."""

    @abstractmethod
    def question(self, instance: Instance) -> Sequence[str]:
        """The words of the prompt, without the special ones around them."""

    @abstractmethod
    def reason(self, instance: Instance, write: TraceWriter) -> None:
        """Think the instance through, up to and including the words of the final answer."""

    @abstractmethod
    def answer(self, response: Sequence[str]) -> str | None:
        """The answer that a final response states, or None where it states none."""

    @abstractmethod
    def parse(self, text: str) -> Instance:
        """An instance from the paper's prompt or from the task's file format, recognised by its content."""

    @cached_property
    def vocab(self) -> Vocab:
        """The closed vocabulary with ids."""
        return Vocab(self.words)

    def draw(self, seed: int, index: int = 0) -> Instance:
        """Instance `index` of the endless series that a seed names; the same on every machine."""
        return self.sample(Random(f"{self.name} {self.size} {seed} {index}"))

    def prompt(self, instance: Instance) -> tuple[str, ...]:
        """The prompt as a model reads it."""
        return (START, *self.question(instance), PROMPT_END)

    def trace(self, instance: Instance, format: Format = "pencil") -> Trace[str]:
        """The whole trace that the reasoner writes; with `direct`, only the final response."""
        write = TraceWriter()
        self.reason(instance, write)
        trace = Trace(self.prompt(instance), (*write.words, END))
        return Trace(trace.prompt, tuple(trace.final)) if format == "direct" else trace

    def hints(self, words: Sequence[str], layers: int = LAYERS) -> Sequence[Hint]:
        """What a learner may be told beside the trace, given what is live and what is generated from there on.

        Where it takes long to find something out, a hint is worth it; the trace is the same with and without. A learner
        with more layers may be told more steps in between.
        """
        return ()

    def rare_trace(self, instance: Instance, rng: Random) -> tuple[Trace[str], int]:
        """A trace that goes on from a situation which is rarely come to, and how many of its first words tell of it.

        What follows can be learned from there; those words cannot, as they do not follow from the prompt. A task need
        not have any.
        """
        raise ConfigError(f"{self.name} has no rare situations to begin in")

    @property
    def names(self) -> tuple[str, ...]:
        """Words that stand for things and could be exchanged for each other throughout a trace."""
        return ()

    def unsettled(self, words: Sequence[str]) -> list[int]:
        """The places of words that do not follow from the others where names were exchanged."""
        return []

    def solve(self, instance: Instance) -> str:
        """The right answer, by the reasoner."""
        answer = self.answer(self.trace(instance).final)
        assert answer is not None, "a reasoner always answers"
        return answer

    def check(self, instance: Instance, answer: str | None) -> bool:
        """Whether an answer is right."""
        return answer == self.solve(instance)

    def remark(self, instance: Instance) -> str | None:
        """What a person should know about an instance before trusting its answer, if anything."""
        return None

    def size_of(self, instance: Instance) -> int:
        """The size of an instance; one that was parsed may have another than the task's."""
        return self.size

    def oddity(self, instance: Instance) -> str | None:
        """What about an instance no sample of its size shows, if anything; models learn from samples alone."""
        return None

    def read(self, path: Path) -> Instance:
        """An instance from a file."""
        text = read_text(path)
        try:
            return self.parse(text)
        except ParseError as error:
            raise error.within(str(path)) from None


def read_text(path: Path) -> str:
    """The text of a file, or of standard input where the path is `-`; what cannot be read is an error that says why."""
    name = "standard input" if path == STDIN else str(path)
    try:
        file = TextIOWrapper(sys.stdin.buffer, "utf-8-sig") if path == STDIN else path.open(encoding="utf-8-sig")
        with file:
            return file.read()
    except UnicodeDecodeError as error:
        raise ParseError(f"{name}: byte {error.start}", "<binary data>", "UTF-8 text") from None
    except OSError as error:
        raise ParseError(name, f"<{error.strerror or error}>", "a file that can be read") from None
