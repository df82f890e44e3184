from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from pencil.errors import ParseError
from pencil.theory.compiler import compile_program
from pencil.theory.machines import load
from pencil.theory.program import turing_program
from pencil.theory.weights import Weights
from tests.theory.random_weights import random_weights


@pytest.mark.parametrize("seed", range(5))
def test_weights_come_back_from_a_file_as_they_were(seed: int, tmp_path: Path) -> None:
    weights = random_weights(seed)
    weights.save(tmp_path / "weights.safetensors")
    again = Weights.load(tmp_path / "weights.safetensors")
    assert (again.alphabet, again.position) == (weights.alphabet, weights.position)
    assert [name for name, _ in again.named()] == [name for name, _ in weights.named()]
    for (_, one), (_, other) in zip(weights.named(), again.named(), strict=True):
        assert np.array_equal(one, other)
    assert [path.name for path in tmp_path.iterdir()] == ["weights.safetensors"]


def test_the_tokens_of_a_machine_are_kept_as_text(tmp_path: Path) -> None:
    weights = compile_program(turing_program(load("bb2"))).weights
    weights.save(tmp_path / "bb2.safetensors")
    assert Weights.load(tmp_path / "bb2.safetensors").alphabet == tuple(map(str, weights.alphabet))


def test_a_missing_file_and_other_weights_are_named(tmp_path: Path) -> None:
    with pytest.raises(ParseError, match="no such file"):
        Weights.load(tmp_path / "none.safetensors")
    save_file({"a": np.zeros(1)}, tmp_path / "other.safetensors")
    with pytest.raises(ParseError, match="other weights"):
        Weights.load(tmp_path / "other.safetensors")
    (tmp_path / "text.safetensors").write_text("not weights at all")
    with pytest.raises(ParseError, match="not safetensors"):
        Weights.load(tmp_path / "text.safetensors")


def test_a_path_without_a_folder_is_named(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none" / "weights.safetensors"):
        with pytest.raises(ParseError, match="found no place for a file"):
            random_weights(0).save(path)
