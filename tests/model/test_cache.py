import pytest
import torch

from pencil.model.cache import CHUNK, KVCache
from pencil.model.transformer import ModelConfig

CONFIG = ModelConfig(vocab_size=5, n_layers=2, d_model=8, n_heads=2, context=300)


def filled(**lengths: int) -> KVCache:
    """Rows 0, 1, ... whose every number is the row's own, plus one."""
    cache = KVCache(CONFIG)
    for row, length in enumerate(lengths.values()):
        cache.tokens[cache.slot(row)] = [0] * length
    cache.reserve(max(cache.lengths))
    for keys, values in cache.layers:
        for row, length in enumerate(cache.lengths):
            keys[row, :, :length] = row + 1
            values[row, :, :length] = -row - 1
    return cache


def held(cache: KVCache, row: int) -> set[tuple[float, float]]:
    """The numbers in a row's keys and values."""
    slot = cache.slot(row)
    parts = ([tensor[slot, :, : cache.lengths[slot]].flatten().tolist() for tensor in pair] for pair in cache.layers)
    return {pair for keys, values in parts for pair in zip(keys, values, strict=True)}


def test_rewinding_is_a_counter() -> None:
    cache = filled(a=5, b=7)
    cache.rewind(1, 3)
    assert cache.lengths == [5, 3]
    with pytest.raises(ValueError, match="row 1 holds 3 tokens and cannot be rewound to 4"):
        cache.rewind(1, 4)


def test_the_last_row_fills_the_hole_of_one_that_leaves() -> None:
    cache = filled(a=5, b=7, c=9)
    cache.drop(0)
    assert (cache.rows, cache.lengths) == ([2, 1], [9, 7])
    assert (held(cache, 1), held(cache, 2)) == ({(2.0, -2.0)}, {(3.0, -3.0)})
    cache.drop(1)
    cache.drop(2)
    assert cache.rows == []


def test_growing_keeps_what_is_held() -> None:
    cache = filled(a=5, b=7)
    cache.slot(9)
    cache.reserve(200)
    assert (held(cache, 0), held(cache, 1)) == ({(1.0, -1.0)}, {(2.0, -2.0)})
    assert cache.capacity[1] >= 200


def test_room_never_exceeds_the_model_s_context_or_a_quarter_more_than_needed() -> None:
    cache = filled(a=1)
    for length in range(1, 301):
        cache.reserve(length)
        assert length <= cache.capacity[1] <= min(300, length * 5 // 4 + 2 * CHUNK)
    assert cache.bytes == 2 * 2 * 8 * 4 * 300  # two layers, keys and values, 8 floats of 4 bytes


def test_padding_is_finite() -> None:
    cache = filled(a=1, b=40)
    assert all(torch.isfinite(tensor).all() for pair in cache.layers for tensor in pair)


def test_tokens_are_stored_in_their_slot_and_position() -> None:
    cache = filled(a=2, b=4)
    k = torch.arange(16.0).view(2, 2, 4)
    keys, values = cache.store(1, cache.places(torch.tensor([0, 1]), torch.tensor([1, 3])), k, k + 100)
    assert torch.equal(torch.stack((keys[0, :, 1], keys[1, :, 3])), k)
    assert torch.equal(torch.stack((values[0, :, 1], values[1, :, 3])), k + 100)
    assert (keys[0, :, 0] == 1).all()
    assert (cache.layers[0][0][0, :, 1] == 1).all()
