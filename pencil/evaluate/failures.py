"""Instances that went wrong, as a text that shows where and how."""

import textwrap
from collections.abc import Iterable, Sequence
from pathlib import Path

from pencil.evaluate.metrics import Outcome
from pencil.files import write_atomically
from pencil.rule import Context
from pencil.tokens import WORD_MARKS, join

WIDTH = 100
"""Columns of the text."""
SEEN, WRITTEN = 400, 60
"""Words before the place where a model went wrong, and after it."""


def write_failures(path: Path, outcomes: Sequence[Outcome], most: int = 10) -> int:
    """Save the first few instances that were not right, for reading; how many there are in all."""
    failures = [outcome for outcome in outcomes if outcome.verdict != "right"]
    head = f"{len(failures)} of {len(outcomes)} instances went wrong.\n"
    parts = (f"\n{'=' * WIDTH}\n{describe(outcome)}" for outcome in failures[:most])
    write_atomically(path, "".join((head, *parts)))
    return len(failures)


def describe(outcome: Outcome) -> str:
    """One instance: its prompt, and where the model first wrote another word than the reasoner."""
    place = departure(outcome.generated, outcome.truth)
    return "".join(
        (
            f"{outcome.verdict}: expected {outcome.expected}, found {outcome.answer or 'no answer'}\n",
            _paragraph("prompt", outcome.prompt),
            _paragraph(f"seen after {place} of {len(outcome.generated)} words", _cut(live_at(outcome, place), -SEEN)),
            _paragraph("the model goes on", _cut(outcome.generated[place:], WRITTEN)),
            _paragraph("the reasoner goes on", _cut(outcome.truth[place:], WRITTEN)),
        )
    )


def departure(generated: Sequence[str], truth: Sequence[str]) -> int:
    """How many words are the same before the first that is not.

    >>> departure("a b c".split(), "a b d e".split())
    2
    >>> departure("a b".split(), "a b d e".split())
    2
    """
    differ = (place for place, (ours, right) in enumerate(zip(generated, truth, strict=False)) if ours != right)
    return next(differ, min(len(generated), len(truth)))


def live_at(outcome: Outcome, place: int) -> list[str]:
    """What a model sees after so many words; without a reduction in all of a trace, nothing was ever erased."""
    said = outcome.generated[:place]
    if not outcome.reductions:
        return [*outcome.prompt, *said]
    context = Context(outcome.prompt, WORD_MARKS)
    context.extend(said)
    return list(context)


def _cut(words: Sequence[str], most: int) -> list[str]:
    """The first `most` words, or the last ones if it is negative."""
    if len(words) <= abs(most):
        return list(words)
    return [*words[:most], "..."] if most > 0 else ["...", *words[most:]]


def _paragraph(title: str, words: Iterable[str]) -> str:
    lines = join(words).splitlines() or ["(nothing)"]
    wrapped = (textwrap.fill(line.strip(), WIDTH, initial_indent="  ", subsequent_indent="  ") for line in lines)
    return f"\n{title}:\n" + "\n".join(wrapped) + "\n"
