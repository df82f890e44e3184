from dataclasses import replace

import pytest
import torch

from pencil.model.frames import MARKS
from pencil.model.surroundings import SIZE, find_last_rows, find_rows
from pencil.model.transformer import ModelConfig, Transformer

CONFIG = ModelConfig(vocab_size=11, n_layers=2, d_model=32, n_heads=4, context=50)
TOKENS = torch.tensor([[1, 2, 3, 4, 5, 6], [7, 8, 9, 10, 0, 1]])


def test_recent_words_are_known_from_the_start() -> None:
    model = Transformer(replace(CONFIG, recent=2))
    changed = TOKENS.clone()
    changed[:, 2] = 0
    differs = (model.embed(TOKENS) - model.embed(changed)).abs().amax(-1) > 1e-6
    assert differs.tolist() == [[False, False, True, True, True, False]] * 2
    torch.testing.assert_close(model(TOKENS[:, :3]), model(TOKENS)[:, :3])
    assert Transformer(replace(CONFIG, recent=8))(TOKENS).shape == (2, 6, 11)  # more than there are
    with pytest.raises(ValueError, match="say what is around them"):
        model(TOKENS, torch.arange(6))


def test_words_in_pairs_are_known_with_the_word_before_them() -> None:
    model = Transformer(replace(CONFIG, recent=2, pairs=True))
    table = model.surroundings
    assert table is not None
    rows = [2 * 11 + 3, 11**2 + 1 * 11 + 2]  # 3 after 2, and one word before that 2 after 1
    expected = model.embedding(torch.tensor(3)) + table.weight[rows].sum(0)
    torch.testing.assert_close(model.embed(TOKENS)[0, 2], expected)


def test_the_level_of_calls_is_known_from_the_start() -> None:
    model = Transformer(replace(CONFIG, levels=3))
    table = model.surroundings
    assert table is not None
    call, ret = MARKS.call, MARKS.ret
    tokens = torch.tensor([7, call, 8, call, call, 9, ret, ret, ret, ret, 7])  # a level beyond the last counts as it
    levels = [0, 1, 1, 2, 2, 2, 2, 1, 0, 0, 0]
    torch.testing.assert_close(model.embed(tokens), model.embedding(tokens) + table.weight[levels])


def test_levels_go_round_and_round_where_only_some_frames_are_seen() -> None:
    model = Transformer(replace(CONFIG, levels=2, frames=2))
    table = model.surroundings
    assert table is not None
    call, ret = MARKS.call, MARKS.ret
    tokens = torch.tensor([7, call, 8, call, call, 9, ret, ret, ret, ret, 7])
    levels = [0, 1, 1, 0, 1, 1, 0, 1, 0, 1, 1]
    torch.testing.assert_close(model.embed(tokens), model.embedding(tokens) + table.weight[levels])


def test_the_place_after_the_last_call_is_known_from_the_start() -> None:
    model = Transformer(replace(CONFIG, places=4))
    table = model.surroundings
    assert table is not None
    call = MARKS.call
    tokens = torch.tensor([7, 8, call, 9, call, 7, 8, 9, 9, 9])  # a place beyond the last counts as it
    places = [0, 1, 0, 1, 0, 1, 2, 3, 3, 3]
    torch.testing.assert_close(model.embed(tokens), model.embedding(tokens) + table.weight[places])


def test_places_are_at_first_as_like_as_they_are_near() -> None:
    table = Transformer(replace(CONFIG, levels=2, places=200)).surroundings
    assert table is not None
    places = table.weight[2:]
    assert places.std().item() == pytest.approx(SIZE, rel=0.1)
    alike = torch.cosine_similarity(places[100], places, dim=1)
    assert alike.argsort(descending=True)[:3].sort().values.tolist() == [99, 100, 101]


@pytest.mark.parametrize(("pairs", "frames"), [(False, 0), (True, 0), (True, 2)])
@pytest.mark.parametrize("start", range(7))
def test_the_last_rows_are_those_of_the_whole_sequence(start: int, pairs: bool, frames: int) -> None:
    config = replace(CONFIG, recent=3, pairs=pairs, levels=2, places=3, frames=frames)
    tokens = [7, MARKS.call, 8, MARKS.ret, 9, MARKS.call, 7]
    assert find_last_rows(tokens, start, config) == find_rows(torch.tensor(tokens), config)[start:].tolist()
