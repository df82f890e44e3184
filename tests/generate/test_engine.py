import tracemalloc
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from random import Random
from typing import Any

import numpy as np
import pytest
import torch

from pencil.errors import ConfigError, VocabError
from pencil.generate.engine import PREFILL, Engine
from pencil.generate.events import Event, Reason, Reduced, Stopped, Token
from pencil.generate.limits import Limits
from pencil.generate.reference import reference
from pencil.generate.sample import Sampling
from pencil.model.int8 import to_int8
from pencil.model.protocol import Model
from pencil.model.transformer import ModelConfig, Transformer
from pencil.rule import Context
from tests.generate.conftest import Learned
from tests.generate.fakes import CALL, END, MARKS, RET, SEP, Hashed, Recorder, Scripted, V, Ventriloquist

FEW = Limits(tokens=80)


def chaotic(seed: int, context: int = 96) -> Transformer:
    """Random weights, large enough that what it says depends on all that it reads."""
    model = Transformer(ModelConfig(V, n_layers=2, d_model=32, n_heads=2, context=context), seed)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if weight.ndim == 2:
                weight.mul_(4 if name.startswith("embedding") else 20)
    return model


def random_prompt(rng: Random) -> list[int]:
    return [rng.choice([CALL, SEP, RET, 4, 5, 6, 7, 8, 9]) for _ in range(rng.randint(1, 12))]


def timeless(events: Sequence[Event]) -> list[object]:
    """Events without the seconds, which no two runs share."""
    return [{**vars(event), "seconds": 0} if isinstance(event, Stopped) else event for event in events]


def watch(engine: Engine, prompts: Sequence[Sequence[int]]) -> list[list[Event]]:
    """The events of each prompt, run together."""
    rows: list[list[Event]] = [[] for _ in prompts]
    engine.run(prompts, progress=lambda index, event: rows[index].append(event))
    return rows


def check_against_reference(model: Model, prompts: Sequence[Sequence[int]], rows: int, limits: Limits = FEW) -> None:
    together = watch(Engine(model, MARKS, end=END, rows=rows, limits=limits), prompts)
    for prompt, events in zip(prompts, together, strict=True):
        assert timeless(events) == timeless(list(reference(model, prompt, MARKS, end=END, limits=limits)))


def check_up_to_ties(model: Transformer, prompts: Sequence[Sequence[int]], rows: int, sampling: Sampling) -> int:
    """As above for floats: a row may part from the reference only where its two best tokens tie; how many did."""
    limits = Limits(tokens=60)
    together = watch(Engine(model, MARKS, end=END, rows=rows, limits=limits, sampling=sampling), prompts)
    parted = 0
    for index, (prompt, events) in enumerate(zip(prompts, together, strict=True)):
        alone = list(reference(model, prompt, MARKS, end=END, limits=limits, sampling=sampling, index=index))
        if timeless(events) != timeless(alone):
            parted += 1
            assert sampling.temperature or margin_where_they_part(model, prompt, events, alone) < 1e-4
    return parted


def margin_where_they_part(model: Model, prompt: Sequence[int], ours: list[Event], theirs: list[Event]) -> float:
    context: Context[int] = Context(prompt, MARKS)
    for event, other in zip(ours, theirs, strict=False):
        if event != other:
            break
        if isinstance(event, Token):
            context.append(event.id)
    best = model(torch.tensor([list(context)]))[0, -1].topk(2).values
    return float(best[0] - best[1])


@pytest.mark.parametrize("rows", [1, 2, 3, 8, 17, 32, 64])
def test_engine_equals_reference_when_every_token_matters(rows: int) -> None:
    rng = Random(rows)
    check_against_reference(Hashed(rows), [random_prompt(rng) for _ in range(70)], rows)


@pytest.mark.parametrize("reads", [3, 5, 9])
@pytest.mark.parametrize("seed", range(10))
def test_engine_equals_reference_when_guesses_are_often_right(seed: int, reads: int) -> None:
    rng = Random(seed)
    model = Hashed(seed, context=200, says=[CALL, SEP, RET, 4, 5, 6, 7, 8, 9], reads=reads)
    check_against_reference(model, [random_prompt(rng) for _ in range(8)], 8, Limits(tokens=300))
    assert model.decoders[-1].guessed > 100


@pytest.mark.parametrize("seed", range(20))
def test_engine_equals_reference_in_a_window_that_slides(seed: int) -> None:
    rng = Random(seed)
    limits = Limits(tokens=80, context=9, overflow="truncate")
    check_against_reference(Hashed(seed), [random_prompt(rng) for _ in range(12)], 5, limits)


@pytest.mark.parametrize("seed", range(20))
def test_engine_equals_reference_at_every_limit(seed: int) -> None:
    rng = Random(seed)
    limits = Limits(tokens=rng.choice([1, 30]), context=20, depth=rng.choice([None, 3]), repeats=3)
    check_against_reference(Hashed(seed), [random_prompt(rng) for _ in range(12)], 4, limits)


@pytest.mark.parametrize("rows", [1, 2, 5, 16, 33, 64])
def test_engine_equals_reference_with_random_weights(rows: int) -> None:
    rng = Random(rows)
    prompts = [random_prompt(rng) for _ in range(max(8, rows))]
    assert check_up_to_ties(chaotic(rows), prompts, rows, Sampling()) <= 1


@pytest.mark.parametrize("rows", [1, 2, 4, 9, 64])
def test_a_trained_model_says_what_it_learned(learned: Learned, rows: int) -> None:
    prompts, traces = learned.prompts * 4, learned.traces * 4
    together = watch(Engine(learned.model, MARKS, end=END, rows=rows, limits=FEW), prompts)
    assert [[event.id for event in events if isinstance(event, Token)] for events in together] == traces
    assert sum(isinstance(event, Reduced) for events in together for event in events) > 20


def test_a_trained_model_says_the_same_in_8_bits(learned: Learned) -> None:
    together = watch(Engine(to_int8(learned.model), MARKS, end=END, limits=FEW), learned.prompts)
    assert [[event.id for event in events if isinstance(event, Token)] for events in together] == learned.traces


def test_a_trained_model_equals_the_reference(learned: Learned) -> None:
    check_against_reference(learned.model, [*learned.prompts, *[[4, token] for token in range(V)]], 16)


def test_a_trained_model_equals_the_reference_beyond_its_window(learned: Learned) -> None:
    check_against_reference(learned.model, learned.prompts, 4, Limits(tokens=80, context=9, overflow="truncate"))


@pytest.mark.parametrize("sampling", [Sampling(1.0, seed=3), Sampling(0.7, top_k=4), Sampling(1.3, top_p=0.8)])
def test_sampled_engine_equals_sampled_reference(learned: Learned, sampling: Sampling) -> None:
    rng = Random(5)
    prompts = [*learned.prompts, *[random_prompt(rng) for _ in range(20)]]
    assert check_up_to_ties(learned.model, prompts, 8, sampling) == 0


SCRIPTS = {
    "deep nesting": [*[CALL, 4] * 40, *[SEP, 5, RET] * 40, END],
    "tail recursion": [CALL, 4, *[SEP, CALL, 5, 6, RET] * 30, SEP, 7, RET, END],
    "empty answers": [*[CALL, 4, SEP, RET] * 20, END],
    "malformed marks": [RET, SEP, RET, CALL, RET, SEP, SEP, 4, RET, RET, CALL, SEP, RET, END],
    "answers longer than thoughts": [*[CALL, 4, SEP, *[5] * 30, RET] * 3, END],
}


@pytest.mark.parametrize("name", SCRIPTS)
@pytest.mark.parametrize("prompt", [[4], [4, CALL, 5], [CALL, 6, CALL, 7, SEP, 8]], ids=["plain", "open", "two open"])
def test_scripts_give_the_same_events(name: str, prompt: list[int]) -> None:
    model = Scripted(SCRIPTS[name])
    events = list(Engine(model, MARKS, end=END).stream(prompt))
    assert timeless(events) == timeless(list(reference(model, prompt, MARKS, end=END)))


def test_a_reduction_feeds_only_the_answer_again_and_never_the_return() -> None:
    model = Recorder([CALL, 7, SEP, 8, 9, RET, END])
    list(Engine(model, MARKS, end=END).stream([4, 5]))
    assert model.told == [
        ("feed", 0, [4, 5]),
        *(("feed", 0, [token]) for token in (CALL, 7, SEP, 8, 9)),
        ("rewind", 0, 2),
        ("feed", 0, [8, 9]),
        ("drop", 0, None),
    ]


def test_an_empty_answer_reads_the_last_token_of_the_context_again() -> None:
    model = Recorder([CALL, SEP, RET, END])
    list(Engine(model, MARKS, end=END).stream([4, 5]))
    assert model.told[-4:] == [("rewind", 0, 2), ("rewind", 0, 1), ("feed", 0, [5]), ("drop", 0, None)]


def test_an_unmatched_return_is_read_like_any_token() -> None:
    model = Recorder([RET, END])
    list(Engine(model, MARKS, end=END).stream([4]))
    assert ("feed", 0, [RET]) in model.told


@pytest.mark.parametrize("prompts", [[[4, 5]], [[4, 5], [5, 6]]], ids=["alone", "in company"])
def test_right_guesses_save_steps_and_wrong_ones_are_rewound(prompts: list[list[int]]) -> None:
    model = Hashed(3, context=2000, says=[4, 5, 6, 7], reads=3)
    engine = Engine(model, MARKS, limits=Limits(tokens=400))
    for prompt in prompts:
        engine.submit(prompt)
    steps = said = 0
    while not engine.idle:
        said += sum(isinstance(event, Token) for _, event in engine.step())
        steps += 1
    assert said == 400 * len(prompts)
    assert steps < 200  # it soon goes round in circles
    assert said <= len(model.decoders[-1].fed) + model.decoders[-1].guessed <= 1.1 * said


def test_a_long_prompt_is_read_in_chunks_while_others_go_on() -> None:
    model = Hashed(1, context=2048, says=[4, 5, 6])
    engine = Engine(model, MARKS, limits=Limits(tokens=9))
    long, short = engine.submit([4] * (2 * PREFILL + 10)), engine.submit([5])
    said = [[number for number, event in engine.step() if isinstance(event, Token)] for _ in range(3)]
    assert said == [[short], [short], [long, short]]


def test_a_row_alone_reads_a_long_prompt_in_one_call() -> None:
    model = Hashed(1, context=2048, says=[4, 5, 6])
    engine = Engine(model, MARKS)
    engine.submit([4] * 1000)
    assert [type(event) for _, event in engine.step()] == [Token]


@pytest.mark.parametrize("token", [V, -1, 4.0, "4", None])
def test_a_token_that_the_model_does_not_know_is_refused_before_anything_runs(token: Any) -> None:
    with pytest.raises(VocabError, match=f"prompt 1: found the token {token!r} at place 2, expected .* from 0 to 9"):
        Engine(chaotic(0), MARKS).run([[4], [4, 5, token]])


def test_numbers_of_other_libraries_are_tokens() -> None:
    engine = Engine(Scripted([SEP, 6, RET, END]), MARKS, end=END)
    for prompt in (torch.tensor([4, CALL]), np.array([4, CALL])):
        assert engine.run([prompt])[0].context == (4, 6, END)  # type: ignore[list-item]


def fail(*_: object) -> None:
    raise MemoryError


@pytest.mark.parametrize("seed", range(3))
def test_rows_go_on_after_a_step_that_failed(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    model, prompts = chaotic(seed), [[4, 5, 6, 7], [8, 9, 5], [6, 7], [9]]
    engine = Engine(model, MARKS, limits=FEW)
    said: list[list[Event]] = [[] for _ in prompts]
    for prompt in prompts:
        engine.submit(prompt)
    for step in range(100):
        if step in (0, 3):
            with monkeypatch.context() as patch:
                patch.setattr(Transformer, "logits", fail)
                with pytest.raises(MemoryError):
                    engine.step()
        for row, event in engine.step():
            said[row].append(event)
    for prompt, events in zip(prompts, said, strict=True):
        assert timeless(events) == timeless(list(reference(model, prompt, MARKS, limits=FEW)))


def stop(script: list[int], limits: Limits, prompt: Sequence[int] = (4,)) -> Stopped:
    return Engine(Scripted(script), MARKS, end=END, limits=limits).run([prompt])[0]


@pytest.mark.parametrize(
    ("script", "limits", "prompt", "reason", "context"),
    [
        ([5, END], Limits(), [4], "end", (4, 5, END)),
        ([5, 6, 7, END], Limits(tokens=2), [4], "tokens", (4, 5, 6)),
        ([5, 6, 7, END], Limits(context=3), [4], "context", (4, 5, 6, 7)),
        ([5], Limits(context=3), [4, 4, 4, 4], "context", (4, 4, 4, 4)),
        ([CALL, CALL, CALL], Limits(depth=2), [4], "depth", (4, CALL, CALL, CALL)),
        ([5], Limits(seconds=0), [4], "seconds", (4,)),
        ([5, 6] * 9, Limits(repeats=3), [4], "repetition", (4, 5, 6, 5, 6, 5, 6)),
        ([SEP, RET], Limits(), [CALL], "empty", ()),
        ([5], Limits(), [], "empty", ()),
    ],
)
def test_limits_stop_with_a_reason_and_what_there_is(
    script: list[int], limits: Limits, prompt: list[int], reason: Reason, context: tuple[int, ...]
) -> None:
    stopped = stop(script, limits, prompt)
    assert (stopped.reason, stopped.context) == (reason, context)


def test_time_may_be_over_before_a_prompt_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = Engine(Hashed(1, context=2048), MARKS, limits=Limits(seconds=5))
    number, _ = engine.submit([4] * (2 * PREFILL)), engine.submit([5])
    clock = iter(range(0, 99, 3))
    monkeypatch.setattr("time.monotonic", lambda: next(clock))
    [stopped] = [event for row, event in engine.step() if row == number]
    assert isinstance(stopped, Stopped)
    assert (stopped.reason, stopped.generated) == ("seconds", 0)


def test_a_reduction_may_end_exactly_at_the_window() -> None:
    script = [CALL, 5, SEP, 6, RET, END]
    assert stop(script, Limits(context=5)).reason == "end"  # [RETURN] is said as the 6th token, never read
    assert stop(script, Limits(context=4)).reason == "context"


def test_a_row_draws_the_same_alone_and_in_any_company() -> None:
    model, sampling, limits = chaotic(2), Sampling(1.0, seed=7), Limits(tokens=40)
    rng = Random(0)
    prompts = [random_prompt(rng) for _ in range(9)]

    def said(rows: int, count: int) -> list[object]:
        return timeless(Engine(model, MARKS, rows=rows, sampling=sampling, limits=limits).run(prompts[:count]))

    assert said(1, 9) == said(9, 9) == said(4, 9)
    assert said(9, 9)[:5] == said(5, 5)


def test_cancelling_frees_the_place_at_once() -> None:
    model = Hashed(0, says=[4, 5])
    engine = Engine(model, MARKS, rows=1)
    first, second, third = (engine.submit([token]) for token in (4, 5, 6))
    engine.step()
    stopped = engine.cancel(first)
    assert stopped is not None
    assert (stopped.reason, stopped.generated) == ("cancelled", 1)
    assert model.decoders[-1].rows == {}
    waiting = engine.cancel(third)
    assert waiting is not None
    assert waiting.seconds == 0
    assert {number for number, _ in engine.step()} == {second}
    assert engine.cancel(first) is None


def test_leaving_a_stream_early_is_fine() -> None:
    stream = Engine(Scripted([5] * 100), MARKS).stream([4])
    assert isinstance(next(stream), Token)
    assert Engine(Scripted([5, END]), MARKS, end=END).run([[4]])[0].reason == "end"


def test_streams_and_runs_do_not_mix() -> None:
    engine = Engine(Hashed(3), MARKS, limits=FEW)
    alone = {token: timeless(list(engine.stream([token]))) for token in (4, 5)}
    pairs = list(zip_longest(engine.stream([4]), engine.stream([5])))
    for place, token in enumerate((4, 5)):
        assert timeless([pair[place] for pair in pairs if pair[place] is not None]) == alone[token]


def test_an_engine_needs_room() -> None:
    with pytest.raises(ConfigError, match="rows is 0"):
        Engine(Scripted([]), MARKS, rows=0)


def test_no_prompts_give_no_results() -> None:
    assert Engine(Scripted([]), MARKS).run([]) == []


def think(rounds: int) -> Iterator[int]:
    """A call that returns, again and again; each round leaves nothing."""
    for _ in range(rounds):
        yield from (CALL, *[4, 5, 6, 7] * 24, SEP, RET)
    yield END


class Think:
    def __init__(self, rounds: int) -> None:
        self.rounds = rounds

    def __iter__(self) -> Iterator[int]:
        return think(self.rounds)


@pytest.mark.slow
def test_memory_does_not_grow_over_a_million_tokens() -> None:
    engine = Engine(Scripted(Think(10_200)), MARKS, end=END, limits=Limits(tokens=None))
    tracemalloc.start()
    sizes, reductions, count = [], 0, 0
    for event in engine.stream([4]):
        count += isinstance(event, Token)
        reductions += isinstance(event, Reduced)
        if isinstance(event, Token) and count % 100_000 == 0:
            sizes.append(tracemalloc.get_traced_memory()[0])
    tracemalloc.stop()
    assert count > 1_000_000
    assert reductions == 10_200
    assert max(sizes[1:]) < sizes[0] + 20_000
    assert isinstance(event, Stopped)
    assert event.peak == 100


def test_the_cache_follows_the_peak_and_not_the_trace() -> None:
    model = Ventriloquist(Think(20))
    stopped = Engine(model, MARKS, end=END).run([[4]])[0]
    assert (stopped.generated, stopped.peak) == (20 * 99 + 1, 100)
    assert model.decoders[-1].cache.bytes == 2 * 8 * 4 * 128  # keys and values of 8 floats; chunks of 64 tokens
