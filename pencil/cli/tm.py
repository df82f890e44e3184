"""`pencil tm`: run, draw and check Turing machines, by simulation, as a PENCIL trace, or inside of a transformer."""

import json
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from pencil.cli.options import Json
from pencil.cli.progress import progress_bar
from pencil.errors import MachineError

if TYPE_CHECKING:
    from pencil.theory.scroll import Token
    from pencil.theory.turing import TuringMachine

app = typer.Typer(help="Turing machines, and how PENCIL runs them in time O(T) and context O(S).", no_args_is_help=True)


class With(StrEnum):
    """What runs the machine."""

    simulator = "simulator"
    scroll = "scroll"
    transformer = "transformer"


class Rule(StrEnum):
    """The reduction rule of the trace."""

    scroll = "scroll"
    call = "call"


LIMIT_REACHED = 3
"""The exit status of a run that was stopped before its machine halted."""

Machine = Annotated[
    str,
    typer.Argument(
        metavar="MACHINE",
        help="A name from `pencil tm list`, a file, or a busy beaver such as 1RB1LB_1LA1RH.",
        show_default=False,
    ),
]
Input = Annotated[
    str, typer.Argument(metavar="INPUT", help="The input's symbols, one letter each or with spaces between.")
]
MaxSteps = Annotated[int, typer.Option(min=0, help="Stop after so many steps of the machine.")]


@app.command()
def run(
    machine: Machine,
    word: Input = "",
    with_: Annotated[With, typer.Option("--with", help="What runs the machine.")] = With.simulator,
    rule: Annotated[Rule, typer.Option(help="The reduction rule of scroll and transformer.")] = Rule.scroll,
    max_steps: MaxSteps = 100_000_000,
    json_: Json = False,
) -> None:
    """Run a machine on an input: the answer, and the sizes T, S, tokens and context.

    The head starts one cell past the input, as in the paper.

    With the simulator, tokens and peak are those of a chain of thought, which erases nothing. With scroll they are the
    definition's, with transformer those of a compiled model. Space, cells and tape are always the simulator's.

    Exit status 0: the machine halted, whatever the answer; 3: it did not within --max-steps.

    \b
    Examples:
      pencil tm run counter '#00000000' --with scroll
      pencil tm run bb4 --with transformer --rule call --json
    """
    from pencil.theory.formats import parse_word
    from pencil.theory.machines import find_machine

    chosen = find_machine(machine)
    symbols = parse_word(chosen, word)
    with _ending_cleanly(), progress_bar(f"{chosen.name}, {with_.value}", None) as done:
        sizes = _measure(chosen, symbols, with_, rule, max_steps, done)
    report = {
        "machine": chosen.name,
        "input": word,
        "with": with_.value,
        "rule": None if with_ is With.simulator else rule.value,
        **sizes,
    }
    print(json.dumps(report) if json_ else _lines(report))
    if report["answer"] is None:
        print(f"stopped after {report['steps']:,} steps without an answer; try a larger --max-steps", file=sys.stderr)
        raise typer.Exit(LIMIT_REACHED)


def _measure(
    machine: "TuringMachine", word: list[str], with_: With, rule: Rule, max_steps: int, done: Callable[[int], None]
) -> dict[str, Any]:
    """The sizes of a run, as JSON names them."""
    from pencil.theory.scroll import Measured, measure_run
    from pencil.theory.turing import simulate

    model = None
    if with_ is With.simulator:
        run = simulate(machine, word, max_steps, done)
        measured = Measured(run.answer, run.steps, run.steps, 0, len(word) + run.steps)
    else:
        model, tokens = _tokens(machine, word, with_, rule, max_steps)
        measured = measure_run(machine, word, _reported(tokens, done), rule.value, max_steps)
        run = simulate(machine, word, measured.steps)  # the tape and S, which no single token shows
    separator = "" if all(len(symbol) == 1 for symbol in machine.symbols) else " "
    return {
        "model": model,
        **asdict(measured),
        "space": run.space,
        "cells": len(run.tape),
        "cot_peak": len(word) + measured.steps,
        "tape": separator.join(run.tape),
    }


def _tokens(
    machine: "TuringMachine", word: list[str], with_: With, rule: Rule, max_steps: int
) -> "tuple[str | None, Iterable[Token]]":
    """The size of the machine's transformer, if it is one, and what it or the definition says after the prompt."""
    from pencil.theory.scroll import prompt, scroll

    if with_ is With.scroll:
        return None, scroll(machine, word, rule.value, max_steps)
    from pencil.theory.compiler import compile_program
    from pencil.theory.decode import generate
    from pencil.theory.program import turing_program
    from pencil.tokens import WORD_MARKS

    weights = compile_program(turing_program(machine, rule.value)).weights
    tokens = generate(weights, prompt(machine, word, rule.value), WORD_MARKS, scroll=rule is Rule.scroll)
    return f"{len(weights.layers)} layers, width {weights.width}", cast("Iterable[Token]", tokens)


def _reported(tokens: "Iterable[Token]", done: Callable[[int], None], every: int = 1 << 14) -> "Iterator[Token]":
    """The same tokens; their number goes to the progress bar now and then."""
    for count, token in enumerate(tokens):
        if count % every == 0:
            done(count)
        yield token


def _lines(report: dict[str, Any]) -> str:
    """For people: a line for each size, a long tape cut short."""
    tape = report["tape"]
    shown = {**report, "input": report["input"] or "(empty)", "tape": tape if len(tape) <= 60 else tape[:59] + "…"}
    texts = {name: f"{value:,}" if isinstance(value, int) else value or "-" for name, value in shown.items()}
    return "\n".join(f"{name.replace('_', ' '):<12}{text}" for name, text in texts.items())


@contextmanager
def _ending_cleanly() -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        raise typer.Exit(130) from None


@app.command("list")
def list_machines(json_: Json = False) -> None:
    """The machines of the library."""
    from rich.console import Console
    from rich.table import Table

    from pencil.theory.machines import NAMES, load

    machines = [load(name) for name in NAMES]
    if json_:
        rows = [{"machine": m.name, "states": m.states, "symbols": m.symbols, "about": m.about} for m in machines]
        print(json.dumps(rows))
        return
    table = Table("machine", "states", "symbols", "about", box=None)
    for m in machines:
        table.add_row(m.name, str(len(m.states)), " ".join(m.symbols), m.about)
    Console().print(table)


@app.command()
def show(
    machine: Machine,
    word: Input = "",
    rows: Annotated[
        int | None, typer.Option(min=2, help="Lines of the picture.", show_default="40, in a file 1000")
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Write an image, such as tape.png, instead.")] = None,
    max_steps: MaxSteps = 10_000_000,
) -> None:
    """Draw the tape over time: time goes down, and a run with more steps than lines is sampled evenly.

    \b
    Examples:
      pencil tm show palindrome abba
      pencil tm show bb5 --max-steps 100000 --out bb5.png
    """
    from rich.console import Console

    from pencil.theory.formats import parse_word
    from pencil.theory.machines import find_machine
    from pencil.theory.picture import draw_tape, record_tape, save_tape

    chosen = find_machine(machine)
    symbols = parse_word(chosen, word)
    with _ending_cleanly(), progress_bar(chosen.name, None) as done:
        history = record_tape(chosen, symbols, rows or (1000 if out else 40), max_steps, done)
    if out:
        save_tape(history, out)
        print(out)
    else:
        console = Console()
        console.print(draw_tape(history, console.width), soft_wrap=True)


@app.command()
def check(
    machine_file: Annotated[Path, typer.Argument(help="A machine in the text format.", show_default=False)],
) -> None:
    """Read a machine file and list every problem with its line; exit status 2 where there is one.

    \b
    The format, where a pair without a rule rejects:
      symbols 0 1
      start   s
      accept  yes
      reject  no
      s 0|1 -> s = L      // in state s, reading 0 or 1: stay in s, keep the symbol, move left
      s _   -> yes 1 N
    """
    from pencil.theory.machines import read_machine

    try:
        machine = read_machine(machine_file)
    except MachineError as error:
        for place, reason in error.problems:
            print(f"{machine_file}: {place}: {reason}", file=sys.stderr)
        raise typer.Exit(2) from None
    rules = len(machine.delta)
    print(f"{machine_file}: fine; {len(machine.states)} states, {len(machine.symbols)} symbols, {rules} rules")
