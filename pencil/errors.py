"""The exception tree: everything a user can mend derives from `PencilError`."""

from collections.abc import Iterable

PROBLEMS_SHOWN = 5
"""How many problems the one line of an error says; the error holds all."""


class PencilError(Exception):
    """Bad input or bad use; the command line prints its one line and exits with status 2."""


class VocabError(PencilError):
    """A word or id that a closed vocabulary does not hold."""


class TraceError(PencilError):
    """A trace written out of order, such as an answer outside of any call."""


class SizeError(PencilError):
    """A problem size that a task does not define."""


class MachineError(PencilError):
    """A Turing machine or its input that is not well formed; holds every problem as a place and a reason.

    Its one line says the first few; a text that is no machine at all has one for each of its lines.

    >>> raise MachineError("counter", [("rule s _", "it writes a blank"), ("start", "the state 'q' is unknown")])
    Traceback (most recent call last):
    pencil.errors.MachineError: counter: rule s _: it writes a blank; start: the state 'q' is unknown
    """

    def __init__(self, name: str, problems: Iterable[tuple[str, str]]) -> None:
        self.name, self.problems = name, tuple(problems)
        said = [f"{place}: {reason}" for place, reason in self.problems[:PROBLEMS_SHOWN]]
        if len(self.problems) > PROBLEMS_SHOWN:
            said.append(f"and {len(self.problems) - PROBLEMS_SHOWN} more")
        super().__init__(f"{name}: " + "; ".join(said))


class ConfigError(PencilError):
    """A setting outside of its range, of a model or of generation."""


class CheckpointError(PencilError):
    """A checkpoint directory that is damaged, partial or not ours."""


class ParseError(PencilError):
    """Text or a file that is not an instance of the task: the place, what was found and what was expected.

    >>> raise ParseError("clause 2, word 3", "x", "a variable such as 4")
    Traceback (most recent call last):
    pencil.errors.ParseError: clause 2, word 3: found 'x', expected a variable such as 4
    """

    def __init__(self, place: str, found: str, expected: str) -> None:
        self.place, self.found, self.expected = place, found, expected
        super().__init__(f"{place}: found {_quote(found)}, expected {expected}")

    def within(self, outer: str) -> "ParseError":
        """The same error, placed inside of something larger, such as a file."""
        return ParseError(f"{outer}: {self.place}", self.found, self.expected)


def _quote(found: str, limit: int = 60) -> str:
    """What was found, quoted and not too long; a description in <angle brackets> stays bare."""
    if found.startswith("<") and found.endswith(">") and not found.startswith("<|"):
        return found[1:-1]
    return repr(found if len(found) <= limit else found[: limit - 1] + "…")
