from pathlib import Path

import pytest

from pencil.model.checkpoint import Checkpoint, save
from pencil.model.transformer import ModelConfig, Transformer
from pencil.tasks import get_task
from tests.cli.conftest import RunPencil


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    vocab = get_task("sat", 3).vocab
    model = Transformer(ModelConfig(len(vocab), n_layers=1, d_model=16, n_heads=2, context=64))
    save(Checkpoint(model, vocab, "sat", (3,)), tmp_path / "run")
    return tmp_path / "run"


def test_a_checkpoint_becomes_hugging_face_files(pencil: RunPencil, stored: Path, tmp_path: Path) -> None:
    result = pencil("export", stored, "--to", "hf", tmp_path / "out")
    assert (result.status, result.out.strip()) == (0, str(tmp_path / "out"))
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert {"config.json", "model.safetensors", "tokenizer.json"} <= names
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "run"]


def test_a_missing_checkpoint_is_one_line(pencil: RunPencil, tmp_path: Path) -> None:
    result = pencil("export", tmp_path / "nothing", "--to", "hf", tmp_path / "out")
    assert result.status == 2
    assert "found no directory" in result.err
    assert result.err.count("\n") == 1


def test_a_full_directory_is_not_written_to(pencil: RunPencil, stored: Path) -> None:
    result = pencil("export", stored, "--to", "hf", stored)
    assert result.status == 2
    assert "expected a new or empty directory" in result.err


def test_the_place_may_be_empty_or_a_link(pencil: RunPencil, stored: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "linked")
    for out in (tmp_path / "run" / ".." / "empty", tmp_path / "link"):
        assert pencil("export", stored, out).status == 0
        assert (out / "config.json").exists()


def test_a_place_below_a_file_is_one_line(pencil: RunPencil, stored: Path) -> None:
    result = pencil("export", stored, stored / "config.json" / "out")
    assert result.status == 2
    assert "config.json" in result.err
    assert result.err.endswith("Not a directory\n")
    assert result.err.count("\n") == 1


def test_an_unknown_format_lists_the_known_one(pencil: RunPencil, stored: Path, tmp_path: Path) -> None:
    result = pencil("export", stored, "--to", "onnx", tmp_path / "out")
    assert result.status == 2
    assert "'hf'" in result.err
