import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from pencil.errors import CheckpointError
from pencil.model import checkpoint as module
from pencil.model.checkpoint import FILES, Checkpoint, read, save
from pencil.model.int8 import to_int8
from pencil.model.pretrained import locate
from pencil.model.transformer import ModelConfig, Transformer
from pencil.tokens import Vocab

VOCAB = Vocab(["True", "False", "∨", "\n"])
CONFIG = ModelConfig(vocab_size=len(VOCAB), n_layers=1, d_model=16, n_heads=2, context=64)


def make(seed: int = 0) -> Checkpoint:
    return Checkpoint(Transformer(CONFIG, seed), VOCAB, "sat", (3, 4), metrics={"accuracy": 0.5})


def same_weights(one: Transformer, other: Transformer) -> bool:
    return all(torch.equal(a, b) for a, b in zip(one.parameters(), other.parameters(), strict=True))


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    save(make(), tmp_path / "run")
    return tmp_path / "run"


def test_what_is_saved_is_read(stored: Path) -> None:
    found, made = read(stored), make()
    assert same_weights(found.model, made.model)
    assert (found.vocab, found.task, found.sizes, found.format) == (VOCAB, "sat", (3, 4), "pencil")
    assert (found.metrics, found.model.config) == ({"accuracy": 0.5}, CONFIG)
    assert sorted(path.name for path in stored.iterdir()) == sorted(FILES)


def test_surroundings_are_stored_and_older_checkpoints_have_none(stored: Path) -> None:
    config = json.loads((stored / "config.json").read_text())
    for name in ("recent", "pairs", "levels", "places", "frames", "outermost"):
        del config["model"][name]
    (stored / "config.json").write_text(json.dumps(config))
    assert same_weights(read(stored).model, make().model)
    model = Transformer(replace(CONFIG, recent=2, pairs=True, levels=4, places=6, frames=2, outermost=True))
    save(replace(make(), model=model), stored)
    assert same_weights(read(stored).model, model)


def test_saving_leaves_nothing_beside_it_and_replaces_the_old(stored: Path) -> None:
    save(make(seed=1), stored)
    assert same_weights(read(stored).model, Transformer(CONFIG, 1))
    assert [path.name for path in stored.parent.iterdir()] == ["run"]


def test_half_precision_takes_half_the_space_and_reads_as_float32(stored: Path, tmp_path: Path) -> None:
    save(make(), tmp_path / "half", half=True)
    small, large = ((path / "model.safetensors").stat().st_size for path in (tmp_path / "half", stored))
    assert small < 0.7 * large
    model = read(tmp_path / "half").model
    assert all(weight.dtype == torch.float32 for weight in model.parameters())
    for weight, full in zip(model.parameters(), make().model.parameters(), strict=True):
        torch.testing.assert_close(weight, full, atol=1e-4, rtol=1e-3)


def test_a_failed_save_leaves_the_old_checkpoint(stored: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr(module, "save_file", fail)
    with pytest.raises(OSError, match="no space"):
        save(make(seed=1), stored)
    assert same_weights(read(stored).model, make().model)


def test_a_replacement_cut_off_between_its_renames_can_be_read_and_made(stored: Path) -> None:
    stored.rename(stored.with_name(".run.old"))
    assert same_weights(read(stored).model, make().model)
    assert same_weights(read(locate(stored)).model, make().model)
    assert not stored.exists()  # so that a reader is never in the way of a writer
    save(make(seed=1), stored)
    assert [path.name for path in stored.parent.iterdir()] == ["run"]


def test_a_directory_with_other_files_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(CheckpointError, match=r"thesis\.tex.*would be lost"):
        save(make(), tmp_path)
    with pytest.raises(CheckpointError, match="found a file, expected a directory"):
        save(make(), tmp_path / "thesis.tex")
    assert (tmp_path / "thesis.tex").read_text() == "years of work"


def test_a_model_of_another_library_is_not_replaced(stored: Path) -> None:
    (stored / "config.json").write_text('{"architectures": ["BertModel"]}')
    with pytest.raises(CheckpointError, match=r"config\.json.*would be lost"):
        save(make(), stored)
    (stored / "config.json").write_text('{"version": 1')  # a damaged one is replaced
    save(make(), stored)
    assert same_weights(read(stored).model, make().model)


def test_what_could_not_be_read_again_is_not_saved(stored: Path) -> None:
    broken, large, small = make(), make(), make()
    broken.model.norm.weight.data.fill_(float("nan"))
    large.model.norm.weight.data.fill_(1e5)
    small.model = to_int8(small.model)
    with pytest.raises(CheckpointError, match="not finite in 'norm"):
        save(broken, stored)
    with pytest.raises(CheckpointError, match="not finite in 'norm"):
        save(large, stored, half=True)
    with pytest.raises(CheckpointError, match="found 4 weights, expected 8"):
        save(small, stored)
    assert same_weights(read(stored).model, make().model)


def test_what_an_older_replacement_left_is_cleared(stored: Path) -> None:
    shutil.copytree(stored, stored.with_name(".run.old"))
    save(make(seed=1), stored)
    assert same_weights(read(stored).model, Transformer(CONFIG, 1))
    assert [path.name for path in stored.parent.iterdir()] == ["run"]


def test_words_must_fit_the_model() -> None:
    with pytest.raises(CheckpointError, match="found 7 words, expected 10"):
        Checkpoint(Transformer(CONFIG), Vocab(["True"]), "sat", (3,))


def edit(**changes: Any) -> Callable[[Path], None]:
    def damage(directory: Path) -> None:
        path = directory / "config.json"
        path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))

    return damage


def edit_model(**changes: Any) -> Callable[[Path], None]:
    def damage(directory: Path) -> None:
        model = json.loads((directory / "config.json").read_text())["model"]
        edit(model={**model, **changes})(directory)

    return damage


def edit_weights(change: Callable[[dict[str, torch.Tensor]], object]) -> Callable[[Path], None]:
    def damage(directory: Path) -> None:
        weights = load_file(directory / "model.safetensors")
        change(weights)
        save_file(weights, directory / "model.safetensors")

    return damage


def overwrite(name: str, content: bytes) -> Callable[[Path], int]:
    return lambda directory: (directory / name).write_bytes(content)


def cut(directory: Path) -> None:
    path = directory / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-100])


DAMAGE: dict[str, tuple[Callable[[Path], object], str]] = {
    "no config": (lambda d: (d / "config.json").unlink(), "found no config.json"),
    "no vocab": (lambda d: (d / "vocab.json").unlink(), "found no vocab.json"),
    "no weights": (lambda d: (d / "model.safetensors").unlink(), "found no model.safetensors"),
    "no metrics": (lambda d: (d / "metrics.json").unlink(), "found no metrics.json"),
    "cut json": (overwrite("config.json", b'{"version": 1'), "expected JSON"),
    "binary json": (overwrite("config.json", b"\xff\xfe\x00"), "expected JSON"),
    "deep json": (overwrite("metrics.json", b"[" * 100_000), "expected JSON"),
    "list for config": (overwrite("config.json", b"[]"), "found a list, expected a JSON dict"),
    "foreign config": (overwrite("config.json", b'{"architectures": ["GPT2"]}'), "found nothing under 'version'"),
    "newer version": (edit(version=2), "found version 2, expected 1"),
    "no task": (edit(task=None), "found nothing under 'task'"),
    "task of another type": (edit(task=7), "found 7 under 'task', expected a value of type str"),
    "sizes of another type": (edit(sizes=["x"]), "under 'sizes', expected a list of whole numbers"),
    "no sizes": (edit(sizes=[]), "under 'sizes'"),
    "unknown format": (edit(format="prose"), "found the format 'prose'"),
    "model of another type": (edit(model=[]), "under 'model'"),
    "fields missing": (edit(model={"vocab_size": 3}), "differing in .*'n_layers'"),
    "size out of range": (edit_model(n_heads=0), "n_heads is 0"),
    "enormous model": (edit_model(n_layers=10**6), "found 8 weights, expected 6000002"),
    "enormous width": (edit_model(d_model=10**18, n_heads=1), "d_model is 1000000000000000000"),
    "enormous vocabulary": (edit_model(vocab_size=10**30), "vocab_size is 1000"),
    "enormous rotation": (edit_model(rope_base=10**400), "rope_base is 1000"),
    "endless rotation": (edit_model(rope_base=float("inf")), "rope_base is inf"),
    "enormous context": (edit_model(context=10**12), "context is 1000000000000"),
    "other width": (edit_model(d_model=32), r"found embedding.weight of shape \(10, 16\), expected shape \(10, 32\)"),
    "other vocabulary": (overwrite("vocab.json", b'["a", "b"]'), "expected a list that starts with <|startoftext|>"),
    "vocabulary of numbers": (overwrite("vocab.json", b"[1, 2]"), "expected a list that starts with"),
    "words missing": (
        lambda d: (d / "vocab.json").write_text(json.dumps(VOCAB.words[:-1])),
        "found 9 words, expected 10",
    ),
    "word twice": (
        lambda d: (d / "vocab.json").write_text(json.dumps([*VOCAB.words[:-1], "True"])),
        "'True' is declared twice",
    ),
    "empty weights": (overwrite("model.safetensors", b""), "expected safetensors"),
    "text for weights": (overwrite("model.safetensors", b"hello" * 99), "expected safetensors"),
    "cut weights": (cut, "expected safetensors; the file may be cut off"),
    "weight missing": (edit_weights(lambda w: w.pop("norm.weight")), "found 7 weights, expected 8"),
    "weight renamed": (edit_weights(lambda w: w.update(x=w.pop("norm.weight"))), "found no norm.weight"),
    "weight of whole numbers": (
        edit_weights(lambda w: w.update({"norm.weight": w["norm.weight"].long()})),
        "found norm.weight of type I64, expected one of F16, BF16, F32, F64",
    ),
    "weight not finite": (edit_weights(lambda w: w["norm.weight"].fill_(float("nan"))), "not finite in 'norm.weight'"),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_damage_is_one_clear_line(stored: Path, name: str) -> None:
    damage, says = DAMAGE[name]
    damage(stored)
    with pytest.raises(CheckpointError, match=says.replace("|", r"\|")) as caught:
        read(stored)
    assert str(stored) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_no_directory_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="found no directory"):
        read(tmp_path / "nothing")
