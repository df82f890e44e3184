"""What is measured on one instance, and over many; pure functions."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any, Literal

from pencil.tokens import RETURN

Verdict = Literal["right", "wrong answer", "malformed", "over a limit", "loop"]
"""How an instance went: a right answer, a wrong one, none that can be read, or a stop before the end."""


@dataclass(frozen=True)
class Outcome:
    """One instance: what was asked, what the reasoner writes, what the model wrote."""

    prompt: tuple[str, ...]
    truth: tuple[str, ...]
    """All that the reasoner generates."""
    generated: tuple[str, ...]
    """All that the model generated, erased tokens included."""
    expected: str
    answer: str | None
    stop: str
    """Why the model stopped: `end`, or the limit that stopped it."""
    peak: int
    reductions: int
    seconds: float = 0.0
    """Since it got its place among the rows."""

    @property
    def trace_rate(self) -> float:
        """The share of reasoning steps that match the reasoner's."""
        return trace_rate(self.generated, self.truth)

    @property
    def verdict(self) -> Verdict:
        """How it went."""
        if self.stop == "repetition":
            return "loop"
        if self.stop not in ("end", "empty"):
            return "over a limit"
        if self.answer is None:
            return "malformed"
        return "right" if self.answer == self.expected else "wrong answer"


@dataclass(frozen=True)
class Report:
    """Many instances of one size."""

    task: str
    size: int
    format: str
    count: int
    accuracy: float
    """Share of right answers."""
    trace_rate: float
    """Mean share of reasoning steps that match the reasoner's."""
    peak: int
    """The longest sequence of any instance."""
    mean_peak: float
    tokens: float
    """Mean number of tokens generated."""
    reductions: float
    """Mean number of reductions."""
    seconds: float
    """Wall time of the whole evaluation, divided by the number of instances."""
    failures: dict[str, int]
    """How many were not right, by kind."""

    def as_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        return asdict(self)


def reasoning_steps(generated: Sequence[str]) -> list[tuple[str, ...]]:
    """A trace cut after each `[RETURN]`: what is generated between two reductions, whether or not they take place.

    >>> reasoning_steps("[CALL] a [SEP] b [RETURN] c".split())
    [('[CALL]', 'a', '[SEP]', 'b', '[RETURN]'), ('c',)]
    """
    cuts = [0, *(place + 1 for place, word in enumerate(generated) if word == RETURN), len(generated)]
    return [tuple(generated[start:stop]) for start, stop in pairwise(cuts) if stop > start]


def trace_rate(generated: Sequence[str], truth: Sequence[str]) -> float:
    """The share of reasoning steps that match the ground truth (paper, section 4).

    Step i of one matches step i of the other where they are equal word for word. Steps that only one of them has do not
    match, so that the rate is 1 exactly if the traces are equal.

    >>> trace_rate("a [RETURN] b [RETURN] c".split(), "a [RETURN] x [RETURN] c".split())
    0.6666666666666666
    """
    ours, theirs = reasoning_steps(generated), reasoning_steps(truth)
    matching = sum(mine == right for mine, right in zip(ours, theirs, strict=False))
    return matching / max(len(ours), len(theirs), 1)


def summarise(task: str, size: int, format: str, outcomes: Sequence[Outcome], seconds: float) -> Report:
    """The figures over one or more instances."""
    count = len(outcomes)
    verdicts = Counter(outcome.verdict for outcome in outcomes)
    right = verdicts.pop("right", 0)
    return Report(
        task=task,
        size=size,
        format=format,
        count=count,
        accuracy=right / count,
        trace_rate=sum(outcome.trace_rate for outcome in outcomes) / count,
        peak=max(outcome.peak for outcome in outcomes),
        mean_peak=sum(outcome.peak for outcome in outcomes) / count,
        tokens=sum(len(outcome.generated) for outcome in outcomes) / count,
        reductions=sum(outcome.reductions for outcome in outcomes) / count,
        seconds=seconds / count,
        failures=dict(sorted(verdicts.items())),
    )
