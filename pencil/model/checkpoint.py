"""A trained model as one directory: config.json, vocab.json, model.safetensors and metrics.json."""

import json
import os
import shutil
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from pencil.errors import CheckpointError, PencilError
from pencil.files import beside, replace_directory, survivor, sync
from pencil.model.transformer import ModelConfig, Transformer
from pencil.tokens import SPECIAL_WORDS, Vocab

FILES = ("config.json", "vocab.json", "model.safetensors", "metrics.json")
VERSION = 1
FORMATS = ("pencil", "cot", "direct")
TYPES = ("F16", "BF16", "F32", "F64")
"""Of weights, as safetensors names them."""
ADDED = ("recent", "pairs", "levels", "places", "frames", "outermost")
"""Fields of a model's config that older checkpoints do not name."""
Value = TypeVar("Value")


@dataclass
class Checkpoint:
    """A model, its words, and what it was trained for."""

    model: Transformer
    vocab: Vocab
    task: str
    sizes: tuple[int, ...]
    """The problem sizes it was trained on, smallest first; its vocabulary is that of the largest."""
    format: str = "pencil"
    """Whether its traces are reduced: `pencil`, `cot` or `direct`."""
    metrics: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.format not in FORMATS:
            raise CheckpointError(f"found the format {self.format!r}, expected one of {', '.join(FORMATS)}")
        words, width = len(self.vocab), self.model.config.vocab_size
        if words != width:
            raise CheckpointError(f"found {words} words, expected {width}, as many as the model has")


def save(checkpoint: Checkpoint, directory: Path, *, half: bool = False) -> None:
    """Write all or nothing; an older checkpoint there is replaced in the end, anything else is left alone.

    With `half` the weights take half the space; they are read back as float32.
    """
    directory = Path(os.path.realpath(directory))  # with a name to build others from, even for "."
    _refuse_foreign(directory)
    weights = _weights(checkpoint.model, torch.float16 if half else torch.float32, directory)
    new = beside(directory, "new")
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir(parents=True)
    _write(checkpoint, weights, new)
    sync(new)
    replace_directory(directory)


def read(directory: Path) -> Checkpoint:
    """Read and check every name, shape and field; what is wrong is one `CheckpointError`."""
    directory = survivor(Path(os.path.realpath(directory)))
    if not directory.is_dir():
        raise CheckpointError(f"{directory}: found no directory, expected one that holds {', '.join(FILES)}")
    config = _read_json(directory / "config.json", dict)
    version = _entry(config, "version", int, directory / "config.json")
    if version != VERSION:
        raise CheckpointError(f"{directory / 'config.json'}: found version {version}, expected {VERSION}")
    try:
        return Checkpoint(
            model=_read_model(directory, config),
            vocab=_read_vocab(directory / "vocab.json"),
            task=_entry(config, "task", str, directory / "config.json"),
            sizes=_read_sizes(config, directory / "config.json"),
            format=_entry(config, "format", str, directory / "config.json"),
            metrics=_read_json(directory / "metrics.json", dict),
        )
    except PencilError as error:
        if str(error).startswith(str(directory)):
            raise
        raise CheckpointError(f"{directory}: {error}") from None


def _weights(model: Transformer, dtype: torch.dtype, directory: Path) -> dict[str, Tensor]:
    """What is to be stored, if it could be read again."""
    weights = {name: weight.to("cpu", dtype) for name, weight in model.state_dict().items()}
    _check_shapes(directory, {name: tuple(weight.shape) for name, weight in weights.items()}, model.config)
    _check_finite(directory, weights)
    return weights


def _write(checkpoint: Checkpoint, weights: dict[str, Tensor], directory: Path) -> None:
    config = {
        "version": VERSION,
        "task": checkpoint.task,
        "sizes": checkpoint.sizes,
        "format": checkpoint.format,
        "model": asdict(checkpoint.model.config),
    }
    tables = {"config.json": config, "vocab.json": checkpoint.vocab.words, "metrics.json": checkpoint.metrics}
    for name, table in tables.items():
        (directory / name).write_text(json.dumps(table, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    save_file(weights, directory / "model.safetensors")
    for name in FILES:
        sync(directory / name)


def _refuse_foreign(directory: Path) -> None:
    """Only a checkpoint, or nothing, may be replaced."""
    if directory.exists() and not directory.is_dir():
        raise CheckpointError(f"{directory}: found a file, expected a directory or nothing; try another name")
    others = sorted(path.name for path in directory.glob("*") if path.name not in FILES)
    if not others and _is_foreign(directory / "config.json"):
        others = ["config.json"]
    if others:
        raise CheckpointError(
            f"{directory}: found {others[0]!r}, which is no part of a checkpoint and would be lost; try a new directory"
        )


def _is_foreign(config: Path) -> bool:
    """Whether it is another library's; a damaged one may well be ours."""
    try:
        return "version" not in _read_json(config, dict)
    except CheckpointError:
        return False


def _read_json(path: Path, kind: type[Value]) -> Value:
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise CheckpointError(f"{path.parent}: found no {path.name}, expected {', '.join(FILES)}") from None
    except (OSError, ValueError, RecursionError) as error:
        raise CheckpointError(f"{path}: found {error}, expected JSON") from None
    if not isinstance(value, kind):
        raise CheckpointError(f"{path}: found a {type(value).__name__}, expected a JSON {kind.__name__}")
    return value


def _entry(config: dict[str, Any], name: str, kind: type[Value], path: Path) -> Value:
    value = config.get(name)
    if not isinstance(value, kind) or isinstance(value, bool):
        found = "nothing" if value is None else repr(value)
        raise CheckpointError(f"{path}: found {found} under {name!r}, expected a value of type {kind.__name__}")
    return value


def _read_sizes(config: dict[str, Any], path: Path) -> tuple[int, ...]:
    sizes = _entry(config, "sizes", list, path)
    if not sizes or not all(isinstance(size, int) and not isinstance(size, bool) for size in sizes):
        raise CheckpointError(f"{path}: found {sizes!r} under 'sizes', expected a list of whole numbers")
    return tuple(sizes)


def _read_vocab(path: Path) -> Vocab:
    words = _read_json(path, list)
    count = len(SPECIAL_WORDS)
    if not all(isinstance(word, str) for word in words) or tuple(words[:count]) != SPECIAL_WORDS:
        raise CheckpointError(f"{path}: found other words, expected a list that starts with {' '.join(SPECIAL_WORDS)}")
    return Vocab(words[count:])


def _read_model(directory: Path, config: dict[str, Any]) -> Transformer:
    known = ModelConfig.__dataclass_fields__
    older: dict[str, Any] = {name: known[name].default for name in ADDED}
    sizes = older | _entry(config, "model", dict, directory / "config.json")
    if set(sizes) != set(known):
        differ = sorted(set(sizes) ^ set(known))
        raise CheckpointError(f"{directory / 'config.json'}: found other sizes of the model, differing in {differ}")
    return _read_weights(directory / "model.safetensors", ModelConfig(**sizes))


def _read_weights(path: Path, config: ModelConfig) -> Transformer:
    try:
        with safe_open(path, framework="pt") as file:
            slices = {name: file.get_slice(name) for name in file.keys()}  # noqa: SIM118
            _check_shapes(path, {name: tuple(part.get_shape()) for name, part in slices.items()}, config)
            _check_types(path, {name: part.get_dtype() for name, part in slices.items()})
            weights: dict[str, Tensor] = {name: file.get_tensor(name).float() for name in file.keys()}  # noqa: SIM118
    except FileNotFoundError:
        raise CheckpointError(f"{path.parent}: found no {path.name}, expected {', '.join(FILES)}") from None
    except (OSError, SafetensorError) as error:
        raise CheckpointError(f"{path}: found {error}, expected safetensors; the file may be cut off") from None
    _check_finite(path, weights)
    model = Transformer(config)
    model.load_state_dict(weights)
    return model


def _check_shapes(path: Path, found: dict[str, tuple[int, ...]], config: ModelConfig) -> None:
    """Compare with the model before anything is allocated; a file names six weights for each layer, and a few more."""
    count = 6 * config.n_layers + 2 + config.surroundings
    if len(found) != count:
        raise CheckpointError(f"{path}: found {len(found)} weights, expected {count}")
    with torch.device("meta"):
        expected = {name: tuple(weight.shape) for name, weight in Transformer(config).state_dict().items()}
    for name, shape in expected.items():
        if found.get(name) != shape:
            given = f"{name} of shape {found[name]}" if name in found else f"no {name}"
            raise CheckpointError(f"{path}: found {given}, expected shape {shape}")


def _check_types(path: Path, found: dict[str, str]) -> None:
    name, kind = next(((name, kind) for name, kind in found.items() if kind not in TYPES), ("", ""))
    if name:
        raise CheckpointError(f"{path}: found {name} of type {kind}, expected one of {', '.join(TYPES)}")


def _check_finite(path: Path, weights: dict[str, Tensor]) -> None:
    broken = next((name for name, weight in weights.items() if not weight.isfinite().all()), None)
    if broken:
        raise CheckpointError(f"{path}: found a number that is not finite in {broken!r}, expected trained weights")
