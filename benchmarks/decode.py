"""Decoding with the paper's 10.63M model, on all threads that torch uses.

    python -m benchmarks.decode [--quick] [--json]

Weights are random, since speed does not depend on them; where reductions matter, the words come from real traces
while the model does all of its work. Every baseline runs in the same process on the same weights and sequences.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import count, islice, takewhile
from operator import eq
from random import Random
from statistics import mean
from typing import Any

import torch
from torch import Tensor

from benchmarks.common import Row, run
from pencil import Context, Task, get_task
from pencil.generate.engine import Engine
from pencil.generate.events import Token
from pencil.generate.limits import Limits
from pencil.generate.reference import reference
from pencil.generate.sample import GREEDY, Sampler, pick
from pencil.model.decode import CachedDecoder
from pencil.model.hf import to_gpt_neox
from pencil.model.int8 import to_int8
from pencil.model.presets import preset
from pencil.model.protocol import Decoder
from pencil.model.transformer import Transformer

TASK = get_task("qbf", 10)
MARKS = TASK.vocab.marks

GUESSES = ("no guesses", "guesses")

WARM_UP = 100
"""Words that each row says before the clock starts: of many thousands, few are the first that a guess is made from."""

Tokens = Sequence[Sequence[int]]
Start = tuple[list[int], list[int]]
"""A live sequence, and the words that follow it."""


def measure(quick: bool) -> Iterator[Row]:
    """Every row of this benchmark."""
    model = Transformer(preset("paper-10m", len(TASK.vocab), context=2304))  # a little more than 2,000 to decode at
    yield from against_reference(model, quick)
    yield from many_rows(model, quick)
    yield from one_row(model, quick)
    yield from against_memory(model, quick)
    yield from eight_bits(model, quick)
    yield cache_size(model)


def against_reference(model: Transformer, quick: bool) -> Iterator[Row]:
    """Rows and contexts: how cost grows with work."""
    sweep = [(1, 100), (1, 600), (32, 600)]
    if not quick:
        sweep = [(rows, context) for context in (100, 300, 600, 1200, 2000) for rows in (1, 8, 32, 64)]
    for rows, context in sweep:
        slow = best(partial(read_again, model, random_tokens(context)), 2 if quick else 4)
        fast = step_seconds(model, rows, context, quick) / rows
        yield Row.of_rates(f"{rows} rows, context {context}: tokens/s, reference loop", 1 / fast, 1 / slow)


def many_rows(model: Transformer, quick: bool) -> Iterator[Row]:
    """Real traces from the middle on, 32 rows with reductions against the reference loop."""
    words, samples, runs = (60, 4, 1) if quick else (400, 16, 2)
    for task in (TASK,) if quick else (TASK, get_task("sat", 10)):
        starts = list(islice((start for start in moments(500, task) if len(start[1]) >= 2 * words), 32))
        spread = [(starts[2 * i], WARM_UP + words * (2 * i + 1) // (2 * samples)) for i in range(samples)]
        live = [list(after(*start, steps)) for start, steps in spread]  # of other rows, at other times
        slow = mean(best(partial(read_again, model, context), 2) for context in live)
        for guessing in (False, True):
            name = f"32 rows with reductions, {task.name}, {GUESSES[guessing]}, context {mean(map(len, live)):.0f}"
            ours = speed(model, starts, words, guessing, runs)
            yield Row.of_rates(f"{name}: tokens/s, reference loop", ours, 1 / slow)


def one_row(model: Transformer, quick: bool) -> Iterator[Row]:
    """One row of a real trace against transformers, and against the speed of the memory."""
    words, runs = (100, 1) if quick else (1600, 2)
    limit = reading_seconds(model, words, runs)
    for context in (200, 500):
        prompt, script = next(moments(context))
        warm, timed = list(after(prompt, script, WARM_UP)), script[WARM_UP : WARM_UP + words]
        theirs = min(transformers_loop(model, warm, timed) for _ in range(2))
        for guessing in (False, True):
            ours = speed(model, [(prompt, script)], words, guessing, runs)
            name = f"1 row with reductions, {GUESSES[guessing]}, context {context}"
            yield Row.of_rates(f"{name}: tokens/s, transformers", ours, words / theirs)
            yield Row.of_rates(f"{name}: tokens/s, reading the weights once for each", ours, 1 / limit)


def against_memory(model: Transformer, quick: bool) -> Iterator[Row]:
    """One row must read every weight for each token: bytes over measured bandwidth is the limit."""
    limit = reading_seconds(model, 8, 12)
    for context in (100, 600):
        ours = step_seconds(model, 1, context, quick)
        yield Row.of_seconds(f"1 row, context {context}: seconds a token, reading the weights once", ours, limit)


def reading_seconds(model: Transformer, words: int, runs: int) -> float:
    """How long a word takes that only reads every weight once, at the speed of a long sum: the best of some runs."""
    weights = sum(weight.nbytes for weight in model.parameters())
    buffer = torch.ones(2**26)  # 256 MB, more than any cache holds
    times = -(-words * weights // buffer.nbytes)

    def read() -> None:
        for _ in range(times):
            buffer.sum()

    return best(read, runs) / (times * buffer.nbytes / weights)


def eight_bits(model: Transformer, quick: bool) -> Iterator[Row]:
    """The same steps with 8-bit linear layers."""
    small = to_int8(model)
    for rows in (1, 32):
        ours, plain = (step_seconds(kind, rows, 300, quick) for kind in (small, model))
        yield Row.of_rates(f"{rows} rows, context 300: tokens/s in 8 bits, in float32", rows / ours, rows / plain)


def cache_size(model: Transformer) -> Row:
    """Bytes of cache for a whole trace, against one that erases nothing: memory follows the peak."""
    traces = [TASK.trace(TASK.draw(0, index)) for index in range(20)]
    trace = max(traces, key=len)
    per_token = 2 * 4 * model.config.d_model * model.config.n_layers
    decoder = model.decoder()
    decoder.cache.tokens[decoder.cache.slot(0)] = [0] * trace.stats().peak
    decoder.cache.reserve(trace.stats().peak)
    name = f"cache bytes for a trace of {len(trace):,} tokens, nothing erased"
    return Row.of_seconds(name, decoder.cache.bytes, per_token * len(trace))


def best(action: Callable[[], object], repeats: int) -> float:
    """The shortest of several times, in seconds; the first call warms up."""
    times = []
    for _ in range(repeats + 1):
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
    return min(times[1:])


def read_again(model: Transformer, prompt: list[int]) -> None:
    """What the reference loop does for one token."""
    for _ in reference(model, prompt, MARKS, limits=Limits(tokens=1)):
        pass


def random_tokens(count: int) -> list[int]:
    """Any tokens will do."""
    rng = Random(count)
    return [rng.randrange(len(TASK.vocab)) for _ in range(count)]


def step_seconds(model: Transformer, rows: int, context: int, quick: bool) -> float:
    """One token for each of these rows: feed and pick."""
    decoder = model.decoder()
    fill(decoder, rows, context)
    numbers, samplers = list(range(rows)), [Sampler(GREEDY)] * rows
    tokens = [[1]] * rows

    def steps() -> None:
        for row in numbers:
            decoder.rewind(row, context)
        for _ in range(8):
            pick(decoder.feed(numbers, tokens), samplers)

    return best(steps, 3 if quick else 12) / 8


def fill(decoder: CachedDecoder, rows: int, context: int) -> None:
    """Rows of this length at once; reading them in would take minutes and is not what is measured."""
    cache = decoder.cache
    for row in range(rows):
        cache.tokens[cache.slot(row)] = [0] * context
    cache.reserve(context + 8)
    for keys, values in cache.layers:
        keys.normal_()
        values.normal_()


def moments(context: int, task: Task[Any] = TASK) -> Iterator[Start]:
    """Live sequences of this length from inside of traces, each with the words that follow it."""
    for index in count():
        trace = task.trace(task.draw(0, index))
        live: Context[int] = Context(task.vocab.encode(trace.prompt), MARKS)
        script = task.vocab.encode(trace.generated)
        for said, token in enumerate(script):
            live.append(token)
            if len(live) == context:
                yield list(live), script[said + 1 :]
                break


def after(prompt: list[int], script: list[int], steps: int) -> Context[int]:
    """The live sequence some words later."""
    live = Context(prompt, MARKS)
    live.extend(script[:steps])
    return live


def speed(model: Transformer, starts: Sequence[Start], words: int, guessing: bool, runs: int) -> float:
    """Tokens a second, the best of some runs, as for the baselines."""
    return max(think(model, starts, words, guessing) for _ in range(runs))


def think(model: Transformer, starts: Sequence[Start], words: int, guessing: bool) -> float:
    """Tokens a second after the warm-up, until the rows have said so many words on average."""
    engine = Engine(Replaying(model, starts, guessing), MARKS, rows=len(starts), limits=Limits(tokens=None))
    for prompt, _ in starts:
        engine.submit(prompt)
    warm = say(engine, WARM_UP * len(starts))
    start = time.perf_counter()
    said = say(engine, (WARM_UP + words) * len(starts) - warm)
    return said / (time.perf_counter() - start)


def say(engine: Engine, least: int) -> int:
    """Let all rows go on until this many tokens are said; how many they were."""
    said = 0
    while said < least:
        said += sum(isinstance(event, Token) for _, event in engine.step())
    return said


class Replaying:
    """The model with all of its work, but its words from a script."""

    def __init__(self, model: Transformer, starts: Sequence[Start], guessing: bool) -> None:
        self.model, self.starts, self.context, self.vocab_size = model, starts, model.context, model.vocab_size
        self.kind = GuessingReplayingDecoder if guessing else ReplayingDecoder

    def __call__(self, tokens: Tensor) -> Tensor:
        """The model itself."""
        logits: Tensor = self.model(tokens)
        return logits

    def decoder(self) -> Decoder:
        """A decoder whose row n says script n."""
        return self.kind(self.model.decoder(), self.starts)


class ReplayingDecoder:
    """Feeds the real decoder, then puts the script's next word on top."""

    def __init__(self, inner: CachedDecoder, starts: Sequence[Start]) -> None:
        self.inner = inner
        self.unread = [len(prompt) for prompt, _ in starts]
        self.scripts = [script for _, script in starts]
        self.said = [0] * len(starts)

    def feed(self, rows: Sequence[int], tokens: Sequence[Sequence[int]]) -> Tensor:
        """As the decoder does."""
        return self.dictate(self.inner.feed(rows, tokens), rows, tokens, [()] * len(rows))

    @torch.inference_mode()
    def dictate(self, logits: Tensor, rows: Sequence[int], tokens: Tokens, guesses: Tokens) -> Tensor:
        """What the script says after the tokens and each guess; a row that still reads its prompt says nothing yet."""
        place = 0
        spoken: list[tuple[int, int]] = []  # where in the logits, and which word
        for row, fed, guess in zip(rows, tokens, guesses, strict=True):
            self.unread[row] -= len(fed)
            if self.unread[row] <= 0:
                words = self.scripts[row][self.said[row] : self.said[row] + 1 + len(guess)]
                spoken.extend(enumerate(words, place))
                self.said[row] += 1 + sum(takewhile(bool, map(eq, words, guess)))
            place += 1 + len(guess)
        if spoken:
            logits[tuple(zip(*spoken, strict=True))] = torch.inf
        return logits

    def rewind(self, row: int, length: int) -> None:
        """As the decoder does."""
        self.inner.rewind(row, length)

    def drop(self, row: int) -> None:
        """As the decoder does."""
        self.inner.drop(row)


class GuessingReplayingDecoder(ReplayingDecoder):
    """The same for an engine that guesses."""

    def feed_guesses(self, rows: Sequence[int], tokens: Tokens, guesses: Tokens) -> Tensor:
        """As the decoder does."""
        return self.dictate(self.inner.feed_guesses(rows, tokens, guesses), rows, tokens, guesses)


def transformers_loop(model: Transformer, prompt: list[int], script: list[int]) -> float:
    """Seconds for the same words by transformers: one forward a token, the cache cropped at each reduction."""
    from transformers import DynamicCache

    twin, cache = to_gpt_neox(model, TASK.vocab), DynamicCache()
    live, feed = Context(prompt, MARKS), prompt
    start = 0.0
    for token in script:
        feed_transformers(twin, cache, feed)
        start = start or time.perf_counter()  # the prompt has been read
        reduction = live.append(token)
        feed = [token]
        if reduction is not None:
            feed = list(reduction.answer) or [live[-1]]
            cache.crop(len(live) - len(feed) - reduction.end)  # all but what stays before the tokens to feed
    return time.perf_counter() - start


@torch.inference_mode()
def feed_transformers(twin: Any, cache: Any, tokens: list[int]) -> int:
    """One step of a plain loop."""
    logits = twin(input_ids=torch.tensor([tokens]), past_key_values=cache, use_cache=True, logits_to_keep=1).logits
    return int(logits[0, -1].argmax())


if __name__ == "__main__":
    run(measure, "Decoding against the reference loop, transformers and the memory's speed.")
