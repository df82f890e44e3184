"""Data and replay, on one core.

    python -m benchmarks.tasks [--quick] [--json]

Data: instances are sampled, labelled, reasoned out and encoded to ids; the baseline is the rate we promise.
Replay: `rule.Context` against a plain implementation that searches the whole sequence for the marks.
"""

import time
from collections.abc import Iterator, Sequence

from benchmarks.common import Row, run
from pencil import Context, get_task
from pencil.tokens import CALL, RETURN, SEP

PROMISED_TOKENS = 3_000_000
PROMISED_PUZZLES = 20
LONG_TRACE = 150_000


def measure(quick: bool) -> Iterator[Row]:
    """Every row of this benchmark."""
    seconds = 3.0 if quick else 20.0
    for name in ("sat", "qbf"):
        tokens, _ = produce(name, 10, seconds)
        yield Row.of_rates(f"{name} n=10, encoded tokens a second", tokens, PROMISED_TOKENS)
    tokens, puzzles = produce("einstein", 5, seconds)
    yield Row.of_rates("puzzles 5x5 with their traces, a second", puzzles, PROMISED_PUZZLES)
    words = long_trace()
    ours, plain = best_time(replay, words), best_time(replay_by_searching, words)
    yield Row.of_seconds(f"replay of a {len(words):,}-token trace, seconds", ours, plain)


def produce(name: str, size: int, seconds: float) -> tuple[float, float]:
    """Tokens and instances a second, from the random numbers to the ids."""
    task = get_task(name, size)
    start, tokens, instances = time.perf_counter(), 0, 0
    while (elapsed := time.perf_counter() - start) < seconds:
        trace = task.trace(task.draw(0, instances))
        tokens += len(task.vocab.encode(trace.prompt)) + len(task.vocab.encode(trace.generated))
        instances += 1
    return tokens / elapsed, instances / elapsed


def long_trace() -> list[str]:
    """Generated words of QBF, 150,000 of them."""
    task = get_task("qbf", 10)
    words: list[str] = []
    for index in range(1_000):
        words += task.trace(task.draw(0, index)).generated
        if len(words) >= LONG_TRACE:
            break
    return words[:LONG_TRACE]


def replay(words: Sequence[str]) -> list[str]:
    """Through `rule.Context`."""
    context: Context[str] = Context()
    for word in words:
        context.append(word)
    return list(context)


def replay_by_searching(words: Sequence[str]) -> list[str]:
    """The plain way: at each `[RETURN]`, search backwards for the marks and build the sequence anew."""
    live: list[str] = []
    for word in words:
        live = [*live, word]
        if word != RETURN:
            continue
        backwards = live[::-1]
        if SEP in live:
            sep = len(live) - 1 - backwards.index(SEP)
            if CALL in live[:sep]:
                call = sep - 1 - live[:sep][::-1].index(CALL)
                live = live[:call] + live[sep + 1 : -1]
    return live


def best_time(function: object, words: Sequence[str], repeats: int = 3) -> float:
    """The fastest of a few runs, in seconds."""
    assert callable(function)
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function(words)
        times.append(time.perf_counter() - start)
    return min(times)


if __name__ == "__main__":
    assert replay(long_trace()) == replay_by_searching(long_trace())
    run(measure, __doc__ or "")
