"""Decoding compiled weights: running state against keys and values in a cache, and against no cache.

    python -m benchmarks.theory [--quick] [--json]

All sides decode the fifth busy beaver with the same weights on one core, and must say the same tokens. Rates are tokens
a second; the first row is the machine without any model, in steps. Without --quick the machine's first million steps go
through the weights, every token checked.
"""

import time
from collections.abc import Iterable, Iterator
from itertools import islice

import torch

from benchmarks.common import Row, run
from pencil.rule import Context
from pencil.theory.compiler import compile_program
from pencil.theory.decode import RunningDecoder, generate
from pencil.theory.machines import load
from pencil.theory.program import turing_program
from pencil.theory.scroll import Token, prompt, scroll
from pencil.theory.transformer import HardAttentionTransformer
from pencil.theory.turing import simulate
from pencil.theory.weights import Weights
from pencil.tokens import CALL, RETURN, SEP, WORD_MARKS, Marks

PROMISED_RATE = 30_000
MACHINE = load("bb5")


def measure(quick: bool) -> Iterator[Row]:
    """Every row of this benchmark."""
    torch.set_num_threads(1)
    yield Row.of_rates("BB5, simulator, steps a second; the promise", simulator_rate(10**6 if quick else 10**7), 10**6)
    compiled = compile_program(turing_program(MACHINE))
    weights, model = compiled.weights, HardAttentionTransformer.from_compiled(compiled)
    tokens = list(islice(scroll(MACHINE), 1_000 if quick else 20_000))
    cached = cached_rate(model, tokens)
    running = running_rate(weights, islice(scroll(MACHINE), 30_000))
    yield Row.of_rates("BB5, running state; the promise", running, PROMISED_RATE)
    yield Row.of_rates("BB5, running state; keys and values in a cache", running, cached)
    yield Row.of_rates("BB5, running state; no cache, first 200 tokens", running, plain_rate(model, tokens[:200]))
    for length in (100, 1_000) if quick else (100, 1_000, 10_000):
        name = f"a token at context {length:,}, running state; cache"
        yield Row.of_rates(name, *rates_at(weights, model, length))
    yield Row.of_seconds("compile BB5, seconds; without folding choices", *compile_seconds(3 if quick else 30))
    if not quick:
        rate = running_rate(weights, scroll(MACHINE, max_steps=10**6))
        yield Row.of_rates("BB5, a million steps, running state; the promise", rate, PROMISED_RATE)


def simulator_rate(steps: int) -> float:
    """Steps a second of the machine itself."""
    start = time.perf_counter()
    simulate(MACHINE, max_steps=steps)
    return steps / (time.perf_counter() - start)


def running_rate(weights: Weights, expected: Iterable[Token]) -> float:
    """Tokens a second of the decoder with running state, the rule included."""
    start, count = time.perf_counter(), 0
    written = generate(weights, prompt(MACHINE), WORD_MARKS, scroll=True)
    for token, found in zip(expected, written, strict=False):
        assert found == token, f"token {count} is {found}, expected {token}"
        count += 1
    return count / (time.perf_counter() - start)


def cached_rate(model: HardAttentionTransformer, expected: list[Token]) -> float:
    """Tokens a second of the PyTorch module with a cache that is rewound at each reduction."""
    words = list(model.alphabet)
    marks = Marks(-1, words.index(SEP), words.index(RETURN))
    unread = [words.index(token) for token in prompt(MACHINE)]
    decoder, context = model.decoder(), Context(unread, marks, scroll=True)
    start = time.perf_counter()
    for token in expected:
        found = int(decoder.feed([0], [unread]).argmax())
        assert words[found] == token
        reduction, unread = context.append(found), [found]
        if reduction is not None:
            decoder.rewind(0, 0)
            unread = list(context)
    return len(expected) / (time.perf_counter() - start)


def plain_rate(model: HardAttentionTransformer, expected: list[Token]) -> float:
    """Tokens a second of the PyTorch module that reads the whole context again for each token."""
    words = list(model.alphabet)
    context: Context[Token] = Context(prompt(MACHINE), Marks(CALL, SEP, RETURN), scroll=True)
    start = time.perf_counter()
    for token in expected:
        tokens = torch.tensor([[words.index(word) for word in context]])
        assert words[int(model(tokens)[0, -1].argmax())] == token
        context.append(token)
    return len(expected) / (time.perf_counter() - start)


def rates_at(weights: Weights, model: HardAttentionTransformer, length: int, count: int = 300) -> tuple[float, float]:
    """Tokens a second of both, for steps of the machine that follow as many steps as the context is long."""
    words = {token: index for index, token in enumerate(weights.alphabet)}
    steps = [words[token] for token in scroll(MACHINE, max_steps=4 * length) if not isinstance(token, str)]
    before, after = steps[:length], steps[length : length + count]
    fast, slow = RunningDecoder(weights), model.decoder()
    fast.next_token(before)
    slow.feed([0], [before])
    start = time.perf_counter()
    said = [fast.next_token([token]) for token in after]
    middle = time.perf_counter()
    assert said == [int(slow.feed([0], [[token]]).argmax()) for token in after]
    end = time.perf_counter()
    return count / (middle - start), count / (end - middle)


def compile_seconds(times: int) -> tuple[float, float]:
    """Seconds to compile, with choices folded and without."""
    program = turing_program(MACHINE)
    seconds = []
    for fold in (True, False):
        start = time.perf_counter()
        for _ in range(times):
            compile_program(program, fold=fold)
        seconds.append((time.perf_counter() - start) / times)
    return seconds[0], seconds[1]


if __name__ == "__main__":
    run(measure, "Decode compiled weights from running state, and without.")
