from pathlib import Path

import pytest
import torch

from pencil.errors import CheckpointError
from pencil.train import state as state_module
from pencil.train.state import State, read_state, saved_states, write_state


def state_of(step: int) -> State:
    return State(step, 100, {"a": torch.full((2, 3), float(step))}, {"a/velocity": torch.arange(4.0)})


def test_a_state_comes_back_as_it_was(tmp_path: Path) -> None:
    write_state(tmp_path, state_of(7))
    found = read_state(tmp_path, pytest.fail)
    assert found is not None
    assert (found.step, found.steps) == (7, 100)
    assert torch.equal(found.weights["a"], torch.full((2, 3), 7.0))
    assert torch.equal(found.optimizers["a/velocity"], torch.arange(4.0))


def test_the_previous_state_is_kept(tmp_path: Path) -> None:
    for step in (5, 10, 1000):
        write_state(tmp_path, state_of(step))
    assert [path.stem for path in saved_states(tmp_path)] == ["000001000", "000000010"]


def test_a_broken_state_falls_back_to_the_one_before(tmp_path: Path) -> None:
    write_state(tmp_path, state_of(5))
    latest = write_state(tmp_path, state_of(10))
    latest.write_bytes(latest.read_bytes()[:-20])
    warnings: list[str] = []
    found = read_state(tmp_path, warnings.append)
    assert found is not None
    assert found.step == 5
    assert "000000010.safetensors is broken" in warnings[0]


def test_nothing_but_broken_states_is_an_error(tmp_path: Path) -> None:
    write_state(tmp_path, state_of(5)).write_bytes(b"")
    with pytest.raises(CheckpointError, match="found no state that can be read"):
        read_state(tmp_path, lambda warning: None)


def test_no_state_yet_is_none(tmp_path: Path) -> None:
    assert read_state(tmp_path / "state", pytest.fail) is None


def test_a_full_disk_leaves_the_last_good_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_state(tmp_path, state_of(5))

    def fail_halfway(tensors: object, path: Path, metadata: object) -> None:
        path.write_bytes(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(state_module, "save_file", fail_halfway)
    with pytest.raises(CheckpointError, match=r"step 10 was not saved: .*No space left on device"):
        write_state(tmp_path, state_of(10))
    assert [path.name for path in tmp_path.iterdir()] == ["000000005.safetensors"]
