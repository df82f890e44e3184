"""The models of an experiment: each is trained for the same CPU time on one thread, then measured; both are kept.

A stopped experiment goes on where it stopped, on another machine with the next model. The same command, started twice,
shares the work: each model is locked by the process that is at it.
"""

import fcntl
import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from experiments.experiment import Options, Result
from pencil.errors import PencilError
from pencil.files import survivor, write_atomically
from pencil.model.pretrained import bundled, locate

if TYPE_CHECKING:  # torch is imported by those who train
    from pencil.model.checkpoint import Checkpoint
    from pencil.model.transformer import Transformer
    from pencil.tasks import Format
    from pencil.train.config import Recipe

CALIBRATION, WARM = 55, 5
"""Steps whose CPU time says how many fit into the minutes given, and how many of them do not count."""


@dataclass(frozen=True)
class Job:
    """A model to train."""

    name: str
    recipe: "Recipe | None" = None
    """How to train it, unless it comes from a source."""
    minutes: float | None = None
    """CPU time on one thread; None means the steps of the recipe."""
    looks: int = 0
    """How often to look at it while it learns."""
    look: Callable[["Transformer"], Result] = lambda model: {}
    """What to note then, in the run's journal."""
    source: Path | None = None
    """A finished run, or a model that ships, to take instead of training."""


Measure = Callable[["Checkpoint", Path], Result]
"""Called with a model and the directory of its run."""

AS_MEASURED: dict[str, dict[str, Any]] = {
    "sat": {"fall": "cosine"},
    "einstein3": {"steps": 4_450, "fall": "cosine"},
}
"""What recipes had when results were made from them, and have otherwise by now."""


def recipe_for(
    name: str, format: "Format", options: Options, sizes: Sequence[int] | None = None, rate: float | None = None
) -> "Recipe":
    """A named recipe in another format, for other sizes, at another rate; a quick one is tiny and takes few steps.

    It has no stretches that no chain of thought could begin with.
    """
    from pencil.recipes import adjust, get_recipe
    from pencil.tasks import get_task

    recipe = get_recipe(name)
    recipe = replace(recipe, train=replace(recipe.train, **AS_MEASURED.get(name, {})))
    recipe = adjust(recipe, format=format, seed=options.seed, rate=rate)
    weights = {size: recipe.data.sizes.get(size, 1.0) for size in sizes or recipe.data.sizes}
    if options.quick:
        weights = dict(list(weights.items())[:2])
    words = len(get_task(recipe.data.task, max(weights)).vocab)
    data, model = replace(recipe.data, sizes=weights, rare=0.0), replace(recipe.model, vocab_size=words)
    recipe = replace(recipe, data=data, model=model)
    if not options.quick:
        return recipe
    return replace(
        recipe,
        data=replace(recipe.data, batch=1, first_sizes={}, first_steps=0),
        model=replace(recipe.model, n_layers=1, d_model=16, n_heads=2),
        train=replace(recipe.train, steps=3, warmup=1),
    )


def finish(jobs: Sequence[Job], what: str, measure: Measure, options: Options) -> dict[str, Result]:
    """Train and measure every model; by its name, what was measured and what the model took."""
    _check_names(jobs, options)
    jobs = [replace(job, source=options.use.get(job.name, job.source)) for job in jobs]
    files = {job.name: (options.measured or options.runs) / _folder(job) / f"{what}.json" for job in jobs}
    for job in jobs:
        _require_same(job, files[job.name])
    for wait in (False, True):  # first what is free, then what another process has not finished
        for job in jobs:
            path, place = files[job.name], options.runs / _folder(job)
            with _lock(place, wait) as ours:
                if ours and not path.exists():
                    path.parent.mkdir(parents=True, exist_ok=True)
                    write_atomically(path, json.dumps(_finish(job, place, measure)) + "\n")
    return {name: json.loads(path.read_text(encoding="utf-8")) for name, path in files.items()}


def at_hand(job: Job, options: Options) -> bool:
    """Whether a model is here, to be measured without training it."""
    source = options.use.get(job.name, job.source)
    return source is not None or (options.runs / _folder(job) / "run" / "model").exists()


def _finish(job: Job, place: Path, measure: Measure) -> Result:
    import torch

    from pencil.model.checkpoint import read

    torch.set_num_threads(1)
    run = job.source or place / "run"
    cost = _train(job, place) if job.source is None else _cost(job.source)
    identity, checkpoint = _identity(job), read(locate(run))
    start = time.process_time()
    measured = measure(checkpoint, run)
    return {
        **identity,
        "parameters": checkpoint.model.parameter_count,
        **cost,
        "measured_in_minutes": (time.process_time() - start) / 60,
        **measured,
    }


def _identity(job: Job) -> Result:
    """What tells a model from others of its name: its recipe, but for the length, or its weights if it has a source."""
    if job.source is not None:
        weights = (survivor(locate(job.source)) / "model.safetensors").read_bytes()
        return {"weights": sha256(weights).hexdigest()}
    return {"recipe": None if job.recipe is None else job.recipe.to_json()}


def _require_same(job: Job, path: Path) -> None:
    """What was measured before was measured of the same model."""
    if not path.exists():
        return
    kept = json.loads(path.read_text(encoding="utf-8"))
    found = {"recipe": _up_to_date(kept["recipe"])} if "recipe" in kept else {"weights": kept.get("weights")}
    if found != _identity(job):
        raise PencilError(f"{path}: found figures of another model, expected today's; remove it, or try --again")


def _up_to_date(recipe: Result | None) -> Result | None:
    """A recipe as it would be told today: with what was added since, if there is nothing that has gone."""
    from pencil.train.config import Recipe

    try:
        return recipe and Recipe.from_json(recipe).to_json()
    except (TypeError, KeyError, PencilError):
        return recipe


def hours(models: dict[str, Result]) -> float:
    """CPU hours of one thread that models took, to train and to measure; those not trained here only to measure."""
    trained: list[float] = [model["minutes"] or 0 for model in models.values() if "seconds_a_step" in model]
    measured: list[float] = [model["measured_in_minutes"] for model in models.values()]
    return (sum(trained) + sum(measured)) / 60


def _train(job: Job, place: Path) -> Result:
    """Start a run or go on with it; what it takes."""
    from pencil.cli.live import live_line
    from pencil.train.loop import Hooks, Machine, train

    assert job.recipe is not None, f"{job.name} has neither a recipe nor a source"
    budget = _budget(job.recipe, job.minutes, place / "budget.json")
    recipe = _with_steps(job.recipe, budget["steps"], job.looks)
    out = place / "run"
    with live_line(job.name) as line:
        hooks = Hooks(job.look, line.report, line.say)
        trainer = train(recipe, out, Machine(workers=0, threads=1), hooks, resume=(out / "run.json").exists())
    if not trainer.done:
        print(f"{job.name} stopped at step {trainer.step}; the same command goes on", file=sys.stderr)
        raise KeyboardInterrupt
    return budget | {"instances": budget["steps"] * recipe.data.batch}


def _cost(source: Path) -> Result:
    """What a model took that is not trained here: by its card, or by its journal."""
    from experiments.cost import training_cost

    card = next((model.facts["runs"] for model in bundled() if model.directory == source), None)
    runs = [training_cost(source).as_dict()] if card is None else card
    totals = {name: sum(run[name] for run in runs) for name in ("steps", "instances", "hours")}
    return {"steps": totals["steps"], "instances": totals["instances"], "minutes": 60 * totals["hours"]}


def _budget(recipe: "Recipe", minutes: float | None, path: Path) -> Result:
    """How many steps to train; measured once, since a run that goes on must not change its mind."""
    if not path.exists():
        steps, seconds = recipe.train.steps, None
        if minutes is not None:
            seconds = seconds_a_step(recipe)
            steps = max(1, round(60 * minutes / seconds))
        write_atomically(path, json.dumps({"steps": steps, "minutes": minutes, "seconds_a_step": seconds}) + "\n")
    budget: Result = json.loads(path.read_text(encoding="utf-8"))
    return budget


def seconds_a_step(recipe: "Recipe") -> float:
    """CPU seconds, by a few steps on the sizes that are trained on in the end."""
    from pencil.train.loop import Hooks, Machine, train

    trial = replace(
        recipe,
        data=replace(recipe.data, first_steps=0),
        train=replace(recipe.train, steps=CALIBRATION, warmup=1, evaluate_every=0),
    )
    times: list[float] = []
    with TemporaryDirectory() as folder:
        hooks = Hooks(report=lambda report: times.append(time.process_time()), say=lambda text: None)
        train(trial, Path(folder) / "trial", Machine(workers=0, threads=1), hooks)
    return (times[-1] - times[WARM]) / (len(times) - 1 - WARM)


def _with_steps(recipe: "Recipe", steps: int, looks: int) -> "Recipe":
    """The recipe with its length; what comes first takes the same share of it as before."""
    data, every = recipe.data, max(1, steps // looks) if looks else 0
    first = {"first_steps": data.first_steps, "renamed_steps": data.renamed_steps}
    share = steps / recipe.train.steps
    shares: Result = {name: round(share * count) for name, count in first.items() if count is not None}
    return replace(
        recipe,
        data=replace(data, **shares),
        train=replace(recipe.train, steps=steps, minutes=None, evaluate_every=every),
    )


def _folder(job: Job) -> str:
    """Where a model's run and what is measured of it are kept; a change of the budget is another folder."""
    if job.source is not None:
        return f"{job.name}-from-{job.source.name}"
    return f"{job.name}-quick" if job.minutes is None else f"{job.name}-{job.minutes:g}m"


def _check_names(jobs: Sequence[Job], options: Options) -> None:
    names = [job.name for job in jobs]
    for name in options.use:
        if name not in names:
            raise PencilError(f"found no model {name!r} in this experiment, expected one of {', '.join(names)}")


@contextmanager
def _lock(place: Path, wait: bool) -> Iterator[bool]:
    """Whether a model is ours to work on; the lock goes with the process, however it ends."""
    place.mkdir(parents=True, exist_ok=True)
    with (place / "lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            yield False
        else:
            yield True
