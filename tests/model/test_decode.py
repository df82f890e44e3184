from dataclasses import replace
from random import Random
from typing import Any

import pytest
import torch
from torch import Tensor

from pencil.model import quick
from pencil.model.transformer import ModelConfig, Transformer

CONFIG = ModelConfig(vocab_size=20, n_layers=3, d_model=64, n_heads=4, context=200)
SEEN = [(0, {}), (3, {}), (0, {"frames": 1}), (3, {"frames": 2}), (3, {"frames": 2, "outermost": True})]


class Walk:
    """Rows that join, grow, rewind and leave at random, and the sequences they should hold."""

    def __init__(self, seed: int, *, all_at_once: bool, most: int = 7, known: int = 0, **seen: Any) -> None:
        self.rng, self.most = Random(seed), most
        self.all_at_once = all_at_once
        around: dict[str, Any] = {"recent": known, "pairs": known > 0, "levels": known, "places": 4 * known}
        self.model = Transformer(replace(CONFIG, **around, **seen), seed)
        self.decoder = self.model.decoder()
        self.rows: dict[int, list[int]] = {}

    def step(self, number: int) -> None:
        if len(self.rows) < self.most and self.rng.random() < 0.4:
            self.rows[number] = []
        fed = list(self.rows)
        self.rng.shuffle(fed)
        if not self.all_at_once:
            fed = fed[: self.rng.randint(1, len(fed) or 1)]
        if not fed:
            return
        tokens = [self.grow(row) for row in fed]
        if self.rng.random() < 0.5:
            self.check(fed, self.decoder.feed(fed, tokens), [0] * len(fed))
        else:
            guesses = [[self.rng.randrange(20) for _ in range(self.rng.choice([0, 1, 4]))] for _ in fed]
            for row, guess in zip(fed, guesses, strict=True):
                self.rows[row] += guess
            self.check(fed, self.decoder.feed_guesses(fed, tokens, guesses), list(map(len, guesses)))
        if self.rng.random() < 0.15:
            self.decoder.drop(fed[0])
            del self.rows[fed[0]]

    def grow(self, row: int) -> list[int]:
        """What to feed next, after going back now and then."""
        tokens, rng = self.rows[row], self.rng
        if tokens and (rng.random() < 0.3 or len(tokens) > 150):
            length = rng.randrange(len(tokens))
            self.decoder.rewind(row, length)
            del tokens[length:]
        new = [rng.randrange(20) for _ in range(rng.choice([1, 1, 1, 4, 40]))]
        tokens.extend(new)
        return new

    def check(self, fed: list[int], logits: Tensor, guessed: list[int]) -> None:
        """The logits after the tokens of each row and after each token guessed."""
        expected = []
        for row, count in zip(fed, guessed, strict=True):
            with torch.no_grad():
                expected.append(self.model(torch.tensor([self.rows[row]]))[0, -1 - count :])
        torch.testing.assert_close(logits.clone(), torch.cat(expected), atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize(("known", "seen"), SEEN)
@pytest.mark.parametrize("all_at_once", [True, False])
@pytest.mark.parametrize("seed", range(8))
def test_cached_equals_uncached(seed: int, all_at_once: bool, known: int, seen: dict[str, Any]) -> None:
    walk = Walk(seed, all_at_once=all_at_once, known=known, **seen)
    for number in range(60):
        walk.step(number)


@pytest.mark.parametrize(("known", "seen"), SEEN)
@pytest.mark.parametrize("numpy", [False, True], ids=["torch", "numpy"])
@pytest.mark.parametrize("seed", range(4))
def test_cached_equals_uncached_for_one_row(seed: int, numpy: bool, known: int, seen: dict[str, Any]) -> None:
    walk = Walk(seed, all_at_once=True, most=1, known=known, **seen)
    assert walk.decoder.single is not None
    if not numpy:
        walk.decoder.single = None
    for number in range(100):
        walk.step(number)


@pytest.mark.parametrize("threads", [1, 2])
def test_cached_equals_uncached_when_products_are_split(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quick, "LARGE", 1)
    monkeypatch.setattr(torch, "get_num_threads", lambda: threads)
    walk = Walk(0, all_at_once=True)
    for number in range(60):
        walk.step(number)


def test_one_call_reads_as_many_calls_do() -> None:
    model = Transformer(CONFIG)
    whole, pieces = model.decoder(), model.decoder()
    for token in (1, 2, 3, 4):
        last = pieces.feed([0], [[token]])
    torch.testing.assert_close(whole.feed([0], [[1, 2, 3, 4]]), last, atol=1e-5, rtol=1e-5)


def test_weights_may_change_between_calls() -> None:
    model = Transformer(CONFIG)
    decoder = model.decoder()
    before = decoder.feed([0], [[1]]).clone()
    with torch.no_grad():
        model.embedding.weight.mul_(2)
    decoder.rewind(0, 0)
    assert not torch.allclose(decoder.feed([0], [[1]]), before)
