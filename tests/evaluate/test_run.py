from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pytest
import torch
from torch import Tensor

from pencil.errors import PencilError
from pencil.evaluate.run import evaluate, held_out_instances
from pencil.generate.limits import Limits
from pencil.tasks import Format, Task, get_task
from pencil.train.split import is_held_out

TASK = get_task("qbf", 2)
VOCAB = TASK.vocab


class Parrot:
    """Says for each prompt exactly what it was told to; its own decoder."""

    context = 2048
    vocab_size = len(VOCAB)

    def __init__(self, scripts: Mapping[tuple[int, ...], Sequence[int]]) -> None:
        self.scripts = scripts
        self.rows: dict[int, Iterator[int]] = {}

    def __call__(self, tokens: Tensor) -> Tensor:
        raise AssertionError("evaluation decodes with a cache")

    def decoder(self) -> "Parrot":
        return self

    def feed(self, rows: Sequence[int], tokens: Sequence[Sequence[int]]) -> Tensor:
        for row, fed in zip(rows, tokens, strict=True):
            if row not in self.rows:
                self.rows[row] = iter(self.scripts[tuple(fed)])
        return torch.eye(len(VOCAB))[[next(self.rows[row]) for row in rows]]

    def rewind(self, row: int, length: int) -> None:
        pass

    def drop(self, row: int) -> None:
        del self.rows[row]


def parrot(format: Format, count: int, change: Mapping[int, Sequence[str]] | None = None) -> Parrot:
    """Says what the reasoner says, but for the instances given."""
    scripts = {}
    for index, instance in enumerate(held_out_instances(TASK, count, seed=0)):
        trace = TASK.trace(instance, format)
        scripts[tuple(VOCAB.encode(trace.prompt))] = VOCAB.encode((change or {}).get(index, trace.generated))
    return Parrot(scripts)


@pytest.mark.parametrize(("name", "size"), [("qbf", 2), ("sat", 3), ("qbf", 3)])
def test_held_out_sets_are_held_out_balanced_and_seeded(name: str, size: int) -> None:
    task = get_task(name, size)
    instances = held_out_instances(task, 20, seed=1)
    assert all(is_held_out(task.prompt(instance)) for instance in instances)
    assert Counter(map(task.solve, instances)) == {"True": 10, "False": 10}
    assert instances == held_out_instances(task, 20, seed=1)
    assert instances != held_out_instances(task, 20, seed=2)


def test_one_instance_is_a_set() -> None:
    assert len(held_out_instances(TASK, 1, seed=0)) == 1


def test_an_answer_that_is_rare_does_not_hold_up_a_set(monkeypatch: pytest.MonkeyPatch) -> None:
    instances = iter(range(1000))
    monkeypatch.setattr("pencil.evaluate.run.draw", lambda task, rng, held_out: next(instances))

    class Lopsided:
        name, size = "lopsided", 1

        def solve(self, instance: int) -> str:
            return str(instance == 3)

    task: Any = Lopsided()
    answers = Counter(map(task.solve, held_out_instances(task, 10, seed=0)))
    assert answers == {"False": 9, "True": 1}


@pytest.mark.parametrize("format", ["pencil", "cot", "direct"])
def test_a_model_that_says_what_the_reasoner_says_is_perfect(format: Format) -> None:
    done: list[int] = []
    report, outcomes = evaluate(parrot(format, 6), VOCAB, TASK, format, count=6, rows=4, progress=done.append)
    assert (report.accuracy, report.trace_rate, report.failures) == (1, 1, {})
    assert done == [1, 2, 3, 4, 5, 6]
    stats = [TASK.trace(instance, format).stats() for instance in held_out_instances(TASK, 6, seed=0)]
    assert report.tokens == sum(len(outcome.truth) for outcome in outcomes) / 6
    if format == "pencil":
        assert report.peak == max(each.peak for each in stats)
        assert report.reductions == sum(each.reductions for each in stats) / 6
    else:
        assert report.peak == max(each.tokens for each in stats)
        assert report.reductions == 0


def test_failures_are_told_apart() -> None:
    instances = held_out_instances(TASK, 4, seed=0)
    other = {"True": "False", "False": "True"}[TASK.solve(instances[0])]
    change = {
        0: ["Answer:", other, "<|endoftext|>"],
        1: ["[CALL]", "Answer:", "<|endoftext|>"],
        2: ["Try"] * 5000,
    }
    report, _ = evaluate(parrot("pencil", 4, change), VOCAB, TASK, "pencil", count=4)
    assert report.failures == {"loop": 1, "malformed": 1, "wrong answer": 1}
    assert report.accuracy == 0.25


ENDLESS = [str(1 + digit % 2) for digit in range(5000) for _ in range(1 + digit % 7 * 3)]


def test_a_model_that_never_ends_is_over_a_limit_that_follows_from_its_own_trace() -> None:
    report, outcomes = evaluate(parrot("pencil", 6, dict.fromkeys(range(5), ENDLESS)), VOCAB, TASK, "pencil", count=6)
    assert report.failures == {"over a limit": 5}
    assert len({len(outcome.truth) for outcome in outcomes[:5]}) > 1
    assert all(len(outcome.generated) == 2 * len(outcome.truth) + 64 for outcome in outcomes[:5])


def test_each_row_may_have_limits_of_its_own() -> None:
    endless = parrot("pencil", 6, dict.fromkeys(range(6), ENDLESS))
    _, outcomes = evaluate(
        endless, VOCAB, TASK, "pencil", count=6, rows=2, limits=lambda truth: Limits(tokens=len(truth.generated))
    )
    lengths = [len(outcome.truth) for outcome in outcomes]
    assert len(set(lengths)) > 1
    assert [len(outcome.generated) for outcome in outcomes] == lengths
    assert all(outcome.seconds > 0 for outcome in outcomes)


def test_a_row_beyond_the_window_stops_where_the_trace_would_fit() -> None:
    peak = max(TASK.trace(instance).stats().peak for instance in held_out_instances(TASK, 2, seed=0))
    endless = parrot("pencil", 2, {0: ENDLESS})
    endless.context = peak
    _, outcomes = evaluate(endless, VOCAB, TASK, "pencil", count=2)
    assert [outcome.stop for outcome in outcomes] == ["context", "end"]


def test_a_window_that_no_trace_fits_is_moved_along() -> None:
    scrolling = parrot("cot", 2)
    scrolling.context = max(map(len, scrolling.scripts))
    report, _ = evaluate(scrolling, VOCAB, TASK, "cot", count=2)
    assert report.accuracy == 1


def test_a_size_beyond_the_models_words_is_an_error() -> None:
    large: Task[Any] = get_task("qbf", 4)
    with pytest.raises(PencilError, match="the model has no word '3', which qbf of size 4 needs"):
        evaluate(parrot("pencil", 1), VOCAB, large, count=1)
