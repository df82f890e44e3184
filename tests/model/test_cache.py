import pytest
import torch

from pencil.model.cache import CHUNK, KVCache
from pencil.model.transformer import ModelConfig

CONFIG = ModelConfig(vocab_size=5, n_layers=2, d_model=8, n_heads=2, context=300)


def filled(**lengths: int) -> KVCache:
    """Rows 0, 1, ... whose every number is the row's own, plus one."""
    cache = KVCache(CONFIG)
    for row, length in enumerate(lengths.values()):
        cache.lengths[cache.slot(row)] = length
    cache.reserve(max(cache.lengths))
    for layer in cache.layers:
        for row, length in enumerate(cache.lengths):
            layer[:, row, :, :length] = row + 1
    return cache


def held(cache: KVCache, row: int) -> set[float]:
    slot = cache.slot(row)
    return {float(value) for layer in cache.layers for value in layer[:, slot, :, : cache.lengths[slot]].flatten()}


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
    assert (held(cache, 1), held(cache, 2)) == ({2.0}, {3.0})
    cache.drop(1)
    cache.drop(2)
    assert cache.rows == []


def test_growing_keeps_what_is_held() -> None:
    cache = filled(a=5, b=7)
    cache.slot(9)
    cache.reserve(200)
    assert (held(cache, 0), held(cache, 1)) == ({1.0}, {2.0})
    assert cache.layers[0].shape[3] >= 200


def test_room_never_exceeds_the_model_s_context_or_a_quarter_more_than_needed() -> None:
    cache = filled(a=1)
    for length in range(1, 301):
        cache.reserve(length)
        assert length <= cache.layers[0].shape[3] <= min(300, length * 5 // 4 + 2 * CHUNK)
    assert cache.bytes == 2 * 2 * 8 * 4 * 300  # two layers, keys and values, 8 floats of 4 bytes


def test_padding_is_finite() -> None:
    cache = filled(a=1, b=40)
    assert all(torch.isfinite(layer).all() for layer in cache.layers)
