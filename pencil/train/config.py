"""What a training run is told: which data, which model, which optimiser, how long, how often to look up from it."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, get_args

from pencil.errors import ConfigError
from pencil.model.config import ModelConfig
from pencil.tasks import Format, Task, get_task

OptimizerName = Literal["muon", "adamw"]
Fall = Literal["cosine", "line"]
SIZES = ("sizes", "first_sizes")
"""What a `DataConfig` holds by size."""


@dataclass(frozen=True)
class DataConfig:
    """An endless series of instances, drawn as they are needed."""

    task: str
    """A name such as `qbf`."""
    sizes: Mapping[int, float]
    """Each problem size with its weight: how often it is drawn, for all instances of a step."""
    first_sizes: Mapping[int, float] = field(default_factory=dict)
    """What to draw in the first steps instead: small problems teach in minutes what large ones hide for long."""
    first_steps: int = 0
    """How many steps that are."""
    format: Format = "pencil"
    batch: int = 4
    """Instances a step, over all processes."""
    stretch: int | None = None
    """Learn from a random stretch of this many generated tokens of each trace and what is live before it, or from all
    of the trace."""
    choices: int = 1
    """Every other stretch is the one with the rarest words among so many."""
    renamed: float = 0.0
    """How many of the stretches have other names, such as variables, than the reasoner gave; see `Task.names`."""
    renamed_steps: int | None = None
    """In how many steps that is so, the first ones; None means in all. What is asked for in the end has true names."""
    rare: float = 0.0
    """How many of the stretches begin in a situation that is rarely come to, where thoughts are erased; see
    `Task.rare_trace`."""
    window: int = 2048
    """The longest sequence the model reads; what is beyond is cut, as in the paper."""
    hints: bool = True
    """Whether to learn from the hints of a task, too, if it has any; the paper learns from the trace alone."""
    seed: int = 0

    def __post_init__(self) -> None:
        _check_sizes(self.task, "sizes", self.sizes)
        if self.first_steps:
            _check_sizes(self.task, "first_sizes", self.first_sizes)
        if self.format not in get_args(Format):
            raise ConfigError(f"format is {self.format!r}; try one of {', '.join(get_args(Format))}")
        for name in ("renamed", "rare"):
            if not 0 <= getattr(self, name) <= 1:
                share = getattr(self, name)
                raise ConfigError(f"{name} is {share}; it needs to be a share of the stretches, from 0 to 1")
        if self.renamed and not get_task(self.task, max(self.sizes)).names:
            raise ConfigError(f"renamed is {self.renamed}, but {self.task} has no names to exchange; try 0")
        if self.rare and type(get_task(self.task)).rare_trace is Task.rare_trace:
            raise ConfigError(f"rare is {self.rare}, but {self.task} has no rare situations to begin in; try 0")
        least = {"stretch": 1, "renamed_steps": 0}
        given = {name: bound for name, bound in least.items() if getattr(self, name) is not None}
        _require(self, batch=1, choices=1, window=2, first_steps=0, **given)


@dataclass(frozen=True)
class TrainConfig:
    """How to learn; the defaults suit a model of about a million parameters."""

    steps: int = 10_000
    minutes: float | None = None
    """Instead of `steps`: as many as fit, by the speed of the first ones; then the number is fixed."""
    optimizer: OptimizerName = "muon"
    """`muon` is Muon for the matrices and AdamW for the rest; `adamw` is AdamW alone."""
    learning_rate: float = 2e-3
    warmup: int = 50
    """Steps in which the rate rises; then it falls to nothing."""
    fall: Fall = "cosine"
    """The shape of that: along a line, it is low for a shorter time in the end."""
    additions: float = 1.0
    """How large what layers add to the stream is at first, and how fast it grows, against the rest; below 1, what words
    know from the start is not drowned out by it."""
    clip: float = 1.0
    """The largest norm of a gradient."""
    weight_decay: float = 0.0
    hints_fade: float = 0.0
    """Over this share of the steps, the last ones, hints count less and less, down to nothing at the end."""
    evaluate_every: int = 0
    """Steps between evaluations on held-out instances; 0 means only at the end."""
    save_every: int = 500
    """Steps between checkpoints; there is one at the end and at an interruption in any case."""
    seed: int = 0
    """Of the first weights."""
    start: str = ""
    """A model to take the first weights of instead: a directory, or the name of one that ships; it may have fewer
    layers."""

    def __post_init__(self) -> None:
        _require(self, steps=1, warmup=0, evaluate_every=0, save_every=1)
        for name in ("learning_rate", "additions", "clip", "minutes"):
            if getattr(self, name) is not None and not 0 < getattr(self, name) < float("inf"):
                raise ConfigError(f"{name} is {getattr(self, name)}; it needs to be a number above 0")
        if not 0 <= self.hints_fade <= 1:
            raise ConfigError(f"hints_fade is {self.hints_fade}; it needs to be a share of the steps, from 0 to 1")
        for name, names in (("optimizer", get_args(OptimizerName)), ("fall", get_args(Fall))):
            if getattr(self, name) not in names:
                raise ConfigError(f"{name} is {getattr(self, name)!r}; try one of {', '.join(names)}")


@dataclass(frozen=True)
class Recipe:
    """A whole run; two equal recipes give the same weights on the same machine."""

    data: DataConfig
    model: ModelConfig
    train: TrainConfig

    def __post_init__(self) -> None:
        if self.model.context < self.data.window:
            raise ConfigError(f"the window is {self.data.window}, but the model reads only {self.model.context} tokens")

    def to_json(self) -> dict[str, Any]:
        """Plain data, as `json.loads` would give it back."""
        plain: dict[str, Any] = json.loads(json.dumps(asdict(self)))
        return plain

    @classmethod
    def from_json(cls, plain: dict[str, Any]) -> "Recipe":
        """The inverse of `to_json`, where a size is a word."""
        sizes = {name: {int(size): weight for size, weight in plain["data"][name].items()} for name in SIZES}
        return cls(DataConfig(**plain["data"] | sizes), ModelConfig(**plain["model"]), TrainConfig(**plain["train"]))


def _check_sizes(task: str, name: str, sizes: Mapping[int, float]) -> None:
    for size in sizes:
        get_task(task, size)
    if not sizes or any(not weight > 0 for weight in sizes.values()):
        raise ConfigError(f"{name} is {dict(sizes)}; name at least one size, each with a weight above 0")


def _require(config: Any, **least: int) -> None:
    for name, bound in least.items():
        if getattr(config, name) < bound:
            raise ConfigError(f"{name} is {getattr(config, name)}; it needs to be at least {bound}")
