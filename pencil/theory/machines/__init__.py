"""A small library of Turing machines, and random ones for tests and experiments."""

from importlib.resources import files
from itertools import product
from pathlib import Path
from random import Random

from pencil.errors import MachineError
from pencil.theory.formats import NOTATION, parse_machine, parse_notation
from pencil.theory.turing import TuringMachine

_WRITTEN_OUT = ("counter", "palindrome", "walker", "addition", "anbn", "parity")
_BUSY_BEAVERS = {
    "bb2": ("1RB1LB_1LA1RH", 6),
    "bb3": ("1RB1RH_1LB0RC_1LC1LA", 21),
    "bb4": ("1RB1LB_1LA0LC_1RH1LD_1RD0RA", 107),
    "bb5": ("1RB1LC_1RC1RB_1RD0LE_1LA1LD_1RH0LA", 47_176_870),
}
NAMES = (*_WRITTEN_OUT, *_BUSY_BEAVERS)


def load(name: str) -> TuringMachine:
    """A machine of the library.

    >>> load("counter").start
    's'
    """
    if name in _BUSY_BEAVERS:
        notation, steps = _BUSY_BEAVERS[name]
        return parse_notation(
            notation, name, f"the busy beaver of {name[2:]} states: {steps:,} steps on the empty input"
        )
    if name not in NAMES:
        raise MachineError(name, [("library", f"there is no such machine, expected one of {' '.join(NAMES)}")])
    return parse_machine((files(__package__) / f"{name}.tm").read_text(), name)


def find_machine(source: str) -> TuringMachine:
    """A machine by its name in the library, its file, or its busy-beaver notation."""
    if source in NAMES:
        return load(source)
    if NOTATION.fullmatch(source):
        return parse_notation(source)
    return read_machine(Path(source))


def read_machine(path: Path) -> TuringMachine:
    """A machine from a file in the text format of `pencil.theory.formats`."""
    if not path.is_file():
        hint = f"there is no such file, and the library holds only {' '.join(NAMES)}"
        raise MachineError(str(path), [("machine", hint)])
    try:
        return parse_machine(path.read_text(encoding="utf-8"), path.stem)
    except UnicodeDecodeError as error:
        raise MachineError(str(path), [(f"byte {error.start + 1}", "this is not UTF-8 text")]) from None


def random_machine(rng: Random, max_states: int = 5, max_symbols: int = 3) -> TuringMachine:
    """A random total machine with one accepting and one rejecting state, which steps lead to now and then."""
    running = tuple(f"q{index}" for index in range(rng.randint(1, max_states)))
    symbols = tuple("abcdefgh"[: rng.randint(1, max_symbols)])
    delta = {
        pair: (_random_state(rng, running), rng.choice(symbols), rng.choice((-1, 0, 1)))
        for pair in product(running, ("_", *symbols))
    }
    return TuringMachine("random", (*running, "yes", "no"), symbols, "_", "q0", ("yes",), ("no",), delta)


def _random_state(rng: Random, running: tuple[str, ...]) -> str:
    return rng.choice(("yes", "no")) if rng.random() < 0.08 else rng.choice(running)
