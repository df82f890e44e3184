"""Single-tape Turing machines as the paper defines them, and a fast simulator (paper, appendix on Turing machines).

The head starts one cell past the input, and no machine writes a blank. So the cells that hold a symbol form one stretch
without holes.

>>> rules = {("s", "_"): ("flip", "0", -1), ("s", "0"): ("yes", "0", 0), ("s", "1"): ("yes", "1", 0)}
>>> rules |= {("flip", "0"): ("flip", "1", -1), ("flip", "1"): ("flip", "0", -1), ("flip", "_"): ("yes", "1", 0)}
>>> flip = TuringMachine("flip", ("s", "flip", "yes"), ("0", "1"), "_", "s", accept=("yes",), reject=(), delta=rules)
>>> run = simulate(flip, "0110")
>>> run.answer, run.steps, "".join(run.tape)
('accept', 6, '110010')
"""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product, repeat
from typing import Any, Literal, NamedTuple

import numpy as np

from pencil.errors import MachineError

Answer = Literal["accept", "reject"]
Problem = tuple[str, str]
"""The place and the reason."""


class Triple(NamedTuple):
    """What one step does, and the token that stands for it: the paper's space of updates Q x (A - b) x {-1, 0, 1}."""

    state: str
    """The next control state."""
    symbol: str
    """The symbol written, never the blank."""
    move: int
    """Where the head goes: -1, 0 or 1."""

    def __str__(self) -> str:
        return f"{self.state}:{self.symbol}:{MOVES[self.move]}"


MOVES = {-1: "L", 0: "N", 1: "R"}
Rules = Mapping[tuple[str, str], tuple[str, str, int]]
"""From a control state and the symbol read, to a `Triple` or the same three as a plain tuple."""


@dataclass(frozen=True)
class TuringMachine:
    """The tuple (A, b, Q, q0, delta, Q_accept, Q_reject); an ill-formed one raises all of its problems at once."""

    name: str
    states: tuple[str, ...]
    """Q, the halting states included."""
    symbols: tuple[str, ...]
    """A without the blank."""
    blank: str
    start: str
    accept: tuple[str, ...]
    reject: tuple[str, ...]
    delta: Rules = field(hash=False)
    """Total on the states that do not halt."""
    about: str = ""
    """One sentence for people."""

    def __post_init__(self) -> None:
        problems = [*_name_problems(self), *_delta_problems(self)]
        if problems:
            raise MachineError(self.name, problems)

    @property
    def halting(self) -> tuple[str, ...]:
        """The states in which the machine stops."""
        return (*self.accept, *self.reject)

    @property
    def alphabet(self) -> tuple[str, ...]:
        """A: the blank, then the symbols."""
        return (self.blank, *self.symbols)

    def answer(self, state: str) -> Answer | None:
        """What it means to be in this state; None where the machine goes on."""
        if state in self.accept:
            return "accept"
        return "reject" if state in self.reject else None

    def check_word(self, word: Sequence[str]) -> None:
        """Raise for an input that holds anything but symbols."""
        known = set(self.symbols)
        for place, symbol in enumerate(word, 1):
            if symbol not in known:
                reason = f"found {symbol!r}, expected one of {' '.join(self.symbols)}"
                raise MachineError(self.name, [(f"symbol {place} of the input", reason)])


def complete(
    rules: Rules,
    states: Sequence[str],
    alphabet: Sequence[str],
    reject: str,
) -> dict[tuple[str, str], tuple[str, str, int]]:
    """Rules made total: a missing one rejects, staying and keeping the symbol (the first symbol over a blank)."""
    blank, first, *_ = alphabet
    missing = [pair for pair in product(states, alphabet) if pair not in rules]
    return {**rules, **{(state, read): (reject, first if read == blank else read, 0) for state, read in missing}}


def _name_problems(machine: TuringMachine) -> Iterator[Problem]:
    for place, names in (("symbols", machine.symbols), ("states", machine.states)):
        yield from ((place, f"{name!r} is declared twice") for name in _repeated(names))
    if not machine.symbols:
        yield "symbols", "there is no symbol to write, expected at least one"
    if machine.blank in machine.symbols:
        yield "blank", f"{machine.blank!r} is also declared as a symbol"
    for place, states in (("start", (machine.start,)), ("accept", machine.accept), ("reject", machine.reject)):
        yield from ((place, f"the state {state!r} is unknown") for state in states if state not in machine.states)
    yield from (("reject", f"the state {state!r} accepts too") for state in machine.reject if state in machine.accept)


def _delta_problems(machine: TuringMachine) -> Iterator[Problem]:
    for (state, read), action in machine.delta.items():
        yield from ((f"rule {state} {read}", reason) for reason in _rule_problems(machine, state, read, action))
    for state, read in product(machine.states, machine.alphabet):
        if state not in machine.halting and (state, read) not in machine.delta:
            yield "rules", f"there is no rule for state {state!r} reading {read!r}, expected one for every pair"


def _rule_problems(machine: TuringMachine, state: str, read: str, action: tuple[str, str, int]) -> Iterator[str]:
    next_state, written, move = action
    yield from (f"the state {name!r} is unknown" for name in (state, next_state) if name not in machine.states)
    yield from (f"the symbol {name!r} is unknown" for name in (read, written) if name not in machine.alphabet)
    if state in machine.halting:
        yield f"the state {state!r} halts, so no rule may leave it"
    if written == machine.blank:
        yield "it writes a blank, which no machine may; write a symbol that stands for it"
    if move not in (-1, 0, 1):
        yield f"the move is {move!r}, expected -1, 0 or 1"


def _repeated(names: Sequence[Hashable]) -> list[Hashable]:
    return [name for index, name in enumerate(names) if name in names[:index]]


@dataclass(frozen=True)
class Run:
    """How a computation went, up to where it halted or was stopped."""

    answer: Answer | None
    """None where the limit came first."""
    steps: int
    """T, the time."""
    space: int
    """S, the length of the longest state (see `pencil.theory.machine`)."""
    tape: tuple[str, ...]
    """The symbols from the leftmost to the rightmost that is not blank."""
    head: int
    """The head's position; 0 is the first cell of the input."""
    state: str


def simulate(
    machine: TuringMachine,
    word: Sequence[str] = "",
    max_steps: int = 10**9,
    on_progress: Callable[[int], None] = lambda steps: None,
) -> Run:
    """Run a machine on an input until it halts, or for as many steps as allowed."""
    simulation = Simulation(machine, word)
    while simulation.answer is None and simulation.steps < max_steps:
        simulation.advance(min(max_steps - simulation.steps, 1 << 20))
        on_progress(simulation.steps)
    return simulation.result()


class Simulation:
    """A computation that can be advanced step by step, or millions of steps at a time.

    The tape is one Python list: a cell left of the input has a negative index, which wraps to the list's end. The head
    moves one cell a step at most, so a stretch of steps no longer than the free cells on either side needs no check.
    """

    _LONGEST_STRETCH = 1 << 16

    def __init__(self, machine: TuringMachine, word: Sequence[str] = "") -> None:
        self.machine = machine
        self.steps = 0
        self.head = len(word)
        self.low, self.high = 0, len(word) - 1  # the stretch of cells that are not blank
        self.space = len(word)
        self._rows = coded_rows(machine)
        self._row = self._rows[machine.start]
        self._cells = coded_word(machine, word)
        self._stretch = 64  # steps taken between two looks at the tape; a short run needs no wide one

    @property
    def state(self) -> str:
        """The control state."""
        return next(name for name, row in self._rows.items() if row is self._row)

    @property
    def answer(self) -> Answer | None:
        """Accept or reject; None while the machine still runs."""
        return self.machine.answer(self.state)

    @property
    def codes(self) -> list[int]:
        """The tape from cell `low` to cell `high`, each symbol as its place in the machine's alphabet."""
        return written_codes(self._cells, self.low, self.high)

    def result(self) -> Run:
        """The computation so far."""
        tape = tuple(self.machine.alphabet[code] for code in self.codes)
        return Run(self.answer, self.steps, self.space, tape, self.head, self.state)

    def advance(self, steps: int = 1) -> None:
        """Take this many steps, or fewer where the machine halts."""
        end = self.steps + steps
        while self._row and self.steps < end:
            stretch = min(end - self.steps, self._stretch)
            self._make_room(stretch)
            path = self._take(stretch)
            self._measure(path)
            self.steps += len(path) - 1
            self.head = path[-1]
            self._stretch = min(2 * self._stretch, self._LONGEST_STRETCH)

    def _make_room(self, stretch: int) -> None:
        half = len(self._cells) // 2
        if half - max(self.high, -self.low) - 1 < stretch:
            self._cells = wide_tape(self._cells, self.low, self.high, half + 2 * stretch)

    def _take(self, steps: int) -> list[int]:
        """The head's positions over a stretch of steps, the first one included; ends early in a halting state."""
        row, cells, head = self._row, self._cells, self.head
        path = [head]
        add = path.append
        try:
            for _ in repeat(None, steps):
                row, cells[head], move, _ = row[cells[head]]
                head += move
                add(head)
        except IndexError:  # a halting state has no rules
            pass
        self._row = row
        return path

    def _measure(self, path: list[int]) -> None:
        """Widen the written stretch along the path, and note the longest state on the way."""
        if len(path) == 1:
            return
        heads = np.array(path)
        lows = np.minimum(np.minimum.accumulate(heads[:-1]), self.low)
        highs = np.maximum(np.maximum.accumulate(heads[:-1]), self.high)
        self.space = max(self.space, int(state_length(lows, highs, heads[1:]).max()))
        self.low, self.high = int(lows[-1]), int(highs[-1])


def coded_word(machine: TuringMachine, word: Sequence[str]) -> list[int]:
    """The input as codes: the blank is 0, then the symbols in their order."""
    machine.check_word(word)
    return list(map(machine.alphabet.index, word))


def coded_rows(machine: TuringMachine) -> dict[str, list[Any]]:
    """For each state its actions by the code of the symbol read; empty where it halts.

    An action is the next state's row itself, the code written, the move, and all three as a token.
    """
    rows: dict[str, list[Any]] = {state: [] for state in machine.states}
    for state, row in rows.items():
        if state not in machine.halting:
            tokens = (Triple(*machine.delta[state, read]) for read in machine.alphabet)
            row.extend((rows[token.state], machine.alphabet.index(token.symbol), token.move, token) for token in tokens)
    return rows


def wide_tape(cells: list[int], low: int, high: int, room: int) -> list[int]:
    """The cells from `low` (0 or less) to `high`, with room on either side; negative cells lie at the list's end."""
    right, left = cells[: high + 1], cells[low:] if low else []
    half = max(high + 1, -low) + room
    return [*right, *[0] * (2 * half - len(right) - len(left)), *left]


def written_codes(cells: list[int], low: int, high: int) -> list[int]:
    """The cells of such a tape from left to right."""
    return [*(cells[low:] if low else ()), *cells[: high + 1]]


def state_length(low: Any, high: Any, head: Any) -> Any:
    """The length of the state for a written stretch and a head, as numbers or as arrays of them.

    One token for each cell, then as many to walk back from the right end (paper, the embedding's length n).
    """
    return high - low + 1 + np.maximum(high - head - 1, 0)
