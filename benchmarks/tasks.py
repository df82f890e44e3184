"""Data and replay, on one core.

    python -m benchmarks.tasks [--quick] [--json]

Data: instances are sampled, labelled, reasoned out and encoded to ids. Replay: a trace through `rule.Context`, token by
token. The baseline is what we promise.
"""

import time
from collections.abc import Callable, Iterator, Sequence

from benchmarks.common import Row, run
from pencil import Context, get_task

PROMISED_TOKENS = 3_000_000
PROMISED_PUZZLES = 20
PROMISED_SECONDS = 0.2
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
    yield Row.of_seconds(
        f"replay of {len(words):,} tokens, seconds", best_time(lambda: replay(words)), PROMISED_SECONDS
    )


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


def replay(words: Sequence[str]) -> Context[str]:
    """Word by word, as a model says them."""
    context: Context[str] = Context()
    for word in words:
        context.append(word)
    return context


def best_time(function: Callable[[], object], repeats: int = 5) -> float:
    """The fastest of a few runs, in seconds."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


if __name__ == "__main__":
    run(measure, __doc__ or "")
