"""Write experiments/README.md from the stored results.

python -m experiments.make_readme
"""

from pathlib import Path

from experiments.catalogue import EXPERIMENTS
from experiments.experiment import Experiment, as_markdown

PAGE = Path(__file__).parent / "README.md"
INTRODUCTION = """\
# The paper's results, ours beside them

`pencil reproduce NAME` prints what `results/` holds, or runs the experiment and stores its numbers and its plot; with
`--again` it runs in any case. `pencil reproduce --list` shows the names. A number is here only if its command made it.

Where models are trained, all methods get the same CPU time on one thread, and each number says how long. That, and
models of about a million parameters, is what two CPU cores can do in hours. The paper's own settings are recipes for a
GPU: `pencil train paper_sat`, `paper_qbf` and `paper_einstein`, each with `--format pencil`, `cot` or `direct`. Ours
learn QBF with hints, in every format that writes traces; `../LOG.md` says what they are.

Training shares well: start the same command once for each core, each with `OMP_NUM_THREADS=1`. Stopped, it goes on.
What was measured of a finished model is kept in `results/measured/`, where all but `--again` find it.
`--use MODEL=DIR` takes a finished run of `pencil train` instead, and its hours are the ones that are shown.

Made by `python -m experiments.make_readme` from the stored results; a test keeps it true."""


def page() -> str:
    """The whole page."""
    return "\n\n".join((INTRODUCTION, *map(section, EXPERIMENTS.values()), ""))[:-1]


def section(experiment: Experiment) -> str:
    """One table or figure."""
    result = experiment.stored()
    command = f"## {experiment.title}\n\n```console\n$ pencil reproduce {experiment.name}\n```"
    if result is None:
        return f"{command}\n\nNot run yet: {experiment.cost}.\n\n{experiment.notes}"
    spent = f"{result['hours']:.2f} CPU hours" if result["hours"] > 0.1 else f"{3600 * result['hours']:.0f} CPU seconds"
    plot = f"![{experiment.title}](results/{experiment.file}.png)"
    details = f"{spent} on one thread ({result['machine']}). Numbers in `results/{experiment.file}.json`."
    return "\n\n".join((command, details, plot, as_markdown(experiment.table(result)), experiment.notes))


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
