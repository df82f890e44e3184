"""Turn a finished run into a model that ships: half precision weights, measured on held-out instances, with a card.

    python -m experiments.ship runs/qbf qbf [--count 100] [--remark "Stopped twice."]

What is measured are the weights as they ship. Every figure of the card comes from here: those of the evaluation from
`pencil.evaluate`, steps and speed from the run's journal, and those of the model it started with, if it did, from that
model's own card or run.
"""

import argparse
import json
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from experiments.cost import BATCHES, Cost, training_cost
from experiments.experiment import machine
from pencil.cli.progress import progress_bar
from pencil.errors import PencilError
from pencil.evaluate import evaluate, usual_processes
from pencil.files import write_atomically
from pencil.model.checkpoint import Checkpoint, read, save
from pencil.model.config import ModelConfig
from pencil.model.pretrained import HOME, locate
from pencil.tasks import get_task


def ship(run: Path, directory: Path, count: int, seed: int, remark: str = "") -> str:
    """Measure a run's model and write it with its card, which is returned; `remark` tells what its recipe does not."""
    runs = runs_up_to(run)
    checkpoint = as_shipped(read(run / "model"))
    facts = {
        "parameters": checkpoint.model.parameter_count,
        "machine": machine(),
        "runs": runs,
        "remark": remark,
        "evaluation_seed": seed,
        "evaluation": [report_of(checkpoint, size, count, seed) for size in checkpoint.sizes],
    }
    (directory / "README.md").unlink(missing_ok=True)  # the card of an older one, which `save` would not touch
    save(replace(checkpoint, metrics=facts), directory, half=True)
    (directory / "model.safetensors").chmod(0o644)  # it is written for its owner alone, and packed as it is
    text = card(directory.name, checkpoint, facts)
    write_atomically(directory / "README.md", text)
    return text


def runs_up_to(run: Path) -> list[dict[str, Any]]:
    """What a run took, and before it what the model took that it started with."""
    cost = training_cost(run)
    start = cost.recipe["train"].get("start")
    if not start:
        return [cost.as_dict()]
    first = locate(start)
    earlier = read(first).metrics.get("runs") or runs_up_to(first.parent)
    return [*(each for each in earlier if each["recipe"] != cost.recipe), cost.as_dict()]  # it may have replaced it


def as_shipped(checkpoint: Checkpoint) -> Checkpoint:
    """The checkpoint after a round trip through half precision."""
    with TemporaryDirectory() as folder:
        save(checkpoint, Path(folder) / "half", half=True)
        return read(Path(folder) / "half")


def report_of(checkpoint: Checkpoint, size: int, count: int, seed: int) -> dict[str, Any]:
    """The figures of one size."""
    task = get_task(checkpoint.task, size)
    with progress_bar(f"{task.name} of size {size}", count) as done:
        asked, processes = (checkpoint.model, checkpoint.vocab, task), usual_processes(count)
        report, _ = evaluate(*asked, "pencil", count, seed, progress=done, processes=processes)
    return report.as_dict()


def card(name: str, checkpoint: Checkpoint, facts: dict[str, Any]) -> str:
    """The card as Markdown."""
    config, costs = checkpoint.model.config, [Cost(**run) for run in facts["runs"]]
    sizes = ", ".join(map(str, checkpoint.sizes))
    return "\n".join(
        (
            f"# {name}",
            "",
            f"Task `{checkpoint.task}`, sizes {sizes}, format {checkpoint.format}. A transformer with"
            f" {facts['parameters'] / 1e6:.2f}M parameters: {config.n_layers} layers, width {config.d_model},"
            f" {config.n_heads} heads, window {config.context:,}{_surroundings(config)}."
            " Stored in half precision, computed in float32.",
            "",
            "## Accuracy",
            "",
            f"On held-out instances, which training never sees (seed {facts['evaluation_seed']}, answers balanced).",
            "",
            "| size | instances | accuracy | trace rate | tokens thought | longest context | what went wrong |",
            "|---:|---:|---:|---:|---:|---:|---|",
            *map(_row, facts["evaluation"]),
            "",
            "## Training",
            "",
            f"{sum(cost.hours for cost in costs):.1f} hours on a machine with {facts['machine']}; tokens and hours are"
            f" estimates: the mean of {BATCHES} batches times the steps, at the median of the speeds noted.",
            "",
            *([facts["remark"], ""] if facts.get("remark") else []),
            *(line for cost in costs for line in _training(cost)),
        )
    )


def _surroundings(config: ModelConfig) -> str:
    known = [f"the {config.recent} words before it{', in pairs,' * config.pairs}"] * bool(config.recent)
    level = f"how many calls are open{f' (modulo {config.levels})' * bool(config.frames)}"
    known += [level] * bool(config.levels)
    known += ["how far it is from the last one"] * bool(config.places)
    told = f"; each word knows {' and '.join(known)}" if known else ""
    reach = f"{config.frames} frames up the stack of calls{' and the outermost one' * config.outermost}"
    return told + f"; its attention reaches {reach}" * bool(config.frames)


def _row(report: dict[str, Any]) -> str:
    failures = ", ".join(f"{count} {kind}" for kind, count in report["failures"].items()) or "nothing"
    return (
        f"| {report['size']} | {report['count']} | {report['accuracy']:.1%} | {report['trace_rate']:.2%}"
        f" | {report['tokens']:,.0f} | {report['peak']:,} | {failures} |"
    )


def _training(cost: Cost) -> list[str]:
    return [
        f"- {cost.steps:,} steps, {cost.instances:,} instances, {cost.tokens / 1e6:,.1f}M tokens,"
        f" {cost.hours:.2f} hours, seed {cost.recipe['train']['seed']}. The recipe:",
        "",
        "```json",
        json.dumps(cost.recipe, indent=1),
        "```",
        "",
    ]


def main() -> None:
    """Ship a run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path, help="a finished run of `pencil train`")
    parser.add_argument("name", help="such as qbf: the name to load it by")
    parser.add_argument("--count", type=int, default=100, help="held-out instances of each size")
    parser.add_argument("--seed", type=int, default=0, help="of these instances")
    parser.add_argument("--remark", default="", help="what the recipe does not tell about the run")
    parser.add_argument("--home", type=Path, default=HOME, help="where models that ship are")
    options = parser.parse_args()
    try:
        print(ship(options.run, options.home / options.name, options.count, options.seed, options.remark))
    except PencilError as error:
        parser.error(str(error))


if __name__ == "__main__":
    main()
