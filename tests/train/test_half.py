import pytest
import torch

from pencil.train.half import BLOCK, NATIVE, cut_chunk, multiplies_halves


@pytest.mark.parametrize("count", [1, BLOCK, BLOCK + 1])
def test_keys_come_in_whole_blocks_and_what_is_added_is_never_seen(count: int) -> None:
    chunk = cut_chunk(slice(3, 5), torch.arange(count), torch.zeros(2, count))
    assert len(chunk.keys) % BLOCK == 0
    assert chunk.mask.shape == (2, len(chunk.keys))
    assert chunk.mask[:, :count].eq(0).all()
    assert chunk.mask[:, count:].isneginf().all()


@pytest.mark.parametrize("having", NATIVE)
def test_a_cpu_with_any_of_the_instructions_multiplies_halves(having: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in NATIVE:
        monkeypatch.setattr(torch.cpu, name, lambda: False)
    assert not multiplies_halves()
    monkeypatch.setattr(torch.cpu, having, lambda: True)
    assert multiplies_halves()
