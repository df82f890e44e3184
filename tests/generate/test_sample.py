from collections import Counter

import pytest
import torch

from pencil.errors import ConfigError
from pencil.generate.sample import Sampler, Sampling, pick

LOGITS = torch.tensor([[2.0, 1.0, 0.0, -1.0]])
SHARES = LOGITS[0].softmax(-1).tolist()  # 0.64, 0.24, 0.09, 0.03


def draws(sampling: Sampling, count: int = 4000) -> list[float]:
    sampler = Sampler(sampling)
    seen = Counter(pick(LOGITS, [sampler])[0] for _ in range(count))
    return [seen[token] / count for token in range(4)]


def test_greedy_takes_the_likeliest() -> None:
    assert draws(Sampling(), 10) == [1.0, 0, 0, 0]


def test_temperature_one_follows_the_model() -> None:
    assert draws(Sampling(temperature=1.0)) == pytest.approx(SHARES, abs=0.03)


def test_the_lowest_temperature_is_greedy() -> None:
    assert draws(Sampling(temperature=5e-324), 10) == [1.0, 0, 0, 0]


def test_a_lower_temperature_sharpens() -> None:
    expected = (LOGITS[0] / 0.5).softmax(-1).tolist()
    assert draws(Sampling(temperature=0.5)) == pytest.approx(expected, abs=0.03)


def test_top_k_keeps_k_tokens_in_proportion() -> None:
    kept = sum(SHARES[:2])
    expected = [SHARES[0] / kept, SHARES[1] / kept, 0, 0]
    assert draws(Sampling(temperature=1.0, top_k=2)) == pytest.approx(expected, abs=0.03)


@pytest.mark.parametrize(("top_p", "kept"), [(0.1, 1), (0.6, 1), (0.7, 2), (0.95, 3), (1.0, 4)])
def test_top_p_keeps_the_fewest_that_reach_it(top_p: float, kept: int) -> None:
    seen = draws(Sampling(temperature=1.0, top_p=top_p))
    assert sum(share > 0 for share in seen) == kept


def test_top_p_counts_what_top_k_left() -> None:
    assert draws(Sampling(temperature=1.0, top_k=2, top_p=0.7)) == [1.0, 0, 0, 0]  # 0.64 of 0.88 is 0.73


def test_the_seed_and_the_index_decide() -> None:
    def said(seed: int, index: int) -> list[int]:
        sampler = Sampler(Sampling(temperature=1.0, seed=seed), index)
        return [pick(LOGITS, [sampler])[0] for _ in range(30)]

    assert said(1, 0) == said(1, 0)
    assert len({tuple(said(seed, index)) for seed in (1, 2) for index in (0, 1)}) == 4


def test_rows_do_not_disturb_each_other() -> None:
    torch.manual_seed(0)
    logits = torch.randn(20, 5, 7)
    settings = [Sampling(1.0), Sampling(), Sampling(0.7, top_k=3), Sampling(1.5, top_p=0.8), Sampling(1.0, 2, 0.5)]
    together = [Sampler(setting, index) for index, setting in enumerate(settings)]
    alone = [Sampler(setting, index) for index, setting in enumerate(settings)]
    for step in logits:
        assert pick(step, together) == [pick(row[None], [sampler])[0] for row, sampler in zip(step, alone, strict=True)]


@pytest.mark.parametrize(
    "bad",
    [{"temperature": -1}, {"temperature": float("nan")}, {"top_k": 0}, {"top_k": 1.5}, {"top_p": 0.0}, {"top_p": 1.1}],
)
def test_settings_out_of_range_are_refused(bad: dict[str, float]) -> None:
    with pytest.raises(ConfigError, match=next(iter(bad))):
        Sampling(**bad)  # type: ignore[arg-type]
