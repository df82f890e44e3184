"""`pencil demo`: watch a puzzle being reasoned out and erased."""

from typing import Annotated

import typer
from rich.console import Console

from pencil.cli.options import Seed, Size
from pencil.cli.view import ThinkingView
from pencil.tasks import get_task
from pencil.tokens import END, join


def demo(
    task: Annotated[str, typer.Option(help="sat, qbf or einstein.")] = "einstein",
    size: Size = None,
    seed: Seed = 0,
    seconds: Annotated[float, typer.Option(min=0.0, help="About how long to play.")] = 20.0,
) -> None:
    """Watch a problem being reasoned out: thoughts appear, fold away, and the answer stays.

    \b
    Examples:
      pencil demo
      pencil demo --task qbf --size 5 --seconds 30
    """
    chosen, console = get_task(task, size), Console()
    trace = chosen.trace(chosen.draw(seed))
    console.print(join(trace.prompt[1:-1]), markup=False, highlight=False)
    console.print()
    view = ThinkingView(trace.prompt, len(trace), console)
    view.play(trace.generated, seconds)
    response = join(word for word in view.context[len(trace.prompt) :] if word != END)
    console.print(f"\n{response}\n", markup=False, highlight=False)
    peak = view.context.peak
    console.print(
        f"Thought {len(trace):,} tokens and never held more than {peak:,} of them:"
        f" a chain of thought needs a window {len(trace) / peak:.1f} times as long.",
        highlight=False,
    )
