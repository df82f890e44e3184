from itertools import islice
from typing import Any

import pytest

from benchmarks import decode
from benchmarks.decode import MARKS, TASK, Replaying, moments, think, transformers_loop
from pencil.generate.engine import Engine
from pencil.generate.events import Token
from pencil.generate.limits import Limits
from pencil.model.presets import preset
from pencil.model.transformer import Transformer
from pencil.rule import Context


@pytest.fixture(scope="module")
def model() -> Transformer:
    return Transformer(preset("nano", len(TASK.vocab)))


def test_moments_are_live_sequences_that_go_on_and_reduce() -> None:
    for prompt, script in islice(moments(300), 3):
        assert len(prompt) == 300
        context = Context(prompt, MARKS)
        context.extend(script)
        assert context.reductions > 10


@pytest.mark.parametrize("guessing", [False, True])
def test_the_engine_says_the_script(model: Transformer, guessing: bool) -> None:
    starts = list(islice(moments(300), 3))
    engine = Engine(Replaying(model, starts, guessing), MARKS, limits=Limits(tokens=150))
    said: dict[int, list[int]] = {engine.submit(prompt): [] for prompt, _ in starts}
    while not engine.idle:
        for row, event in engine.step():
            if isinstance(event, Token):
                said[row].append(event.id)
    assert list(said.values()) == [script[:150] for _, script in starts]


def test_the_clock_starts_after_the_warm_up(model: Transformer) -> None:
    assert think(model, list(islice(moments(300), 2)), words=20, guessing=True) > 0


def test_the_transformers_loop_reads_what_the_rule_leaves(model: Transformer, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("transformers")
    prompt, script = next(moments(300))
    live, said = Context(prompt, MARKS), iter(script[:200])
    plain = decode.feed_transformers

    def checked(twin: Any, cache: Any, tokens: list[int]) -> int:
        assert cache.get_seq_length() + len(tokens) == len(live)
        assert live[-len(tokens) :] == tokens
        live.append(next(said))
        return plain(twin, cache, tokens)

    monkeypatch.setattr(decode, "feed_transformers", checked)
    transformers_loop(model, prompt, script[:200])
    assert live.reductions > 0
