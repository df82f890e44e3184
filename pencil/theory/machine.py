"""Autoregressive machines and state functions, in general and for Turing machines (paper, section 5.1 and appendix B).

An autoregressive machine writes one token after another. A state function shortens what it has written to what the
future depends on. Everything here follows the definitions word for word and is slow: it is what the simulator in
`pencil.theory.turing` and the traces in `pencil.theory.scroll` are tested against.

>>> from pencil.theory.machines import load
>>> parity = load("parity")
>>> machine = autoregressive(parity)
>>> tokens = generate(machine, embed(initial(parity, "101")))
>>> [str(token) for token in tokens]
['even:$:L', 'odd:1:L', 'odd:0:L', 'even:1:L', 'acc:$:N']
"""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from pencil.theory.turing import Answer, Triple, TuringMachine, state_length

__all__ = [
    "AutoregressiveMachine",
    "Configuration",
    "StateFunction",
    "Triple",
    "autoregressive",
    "compute_move",
    "configuration",
    "embed",
    "generate",
    "initial",
    "space",
    "state_function",
    "update",
]

TokenT = TypeVar("TokenT", bound=Hashable)
StateFunction = Callable[[Sequence[TokenT]], tuple[TokenT, ...]]
"""A function s on sequences with: next(s(x)) = next(x); s(x) = s(x') implies s(xy) = s(x'y); s(s(x)) = s(x)."""


@dataclass(frozen=True)
class AutoregressiveMachine(Generic[TokenT]):
    """A next-token generator, and which tokens accept or reject."""

    next_token: Callable[[Sequence[TokenT]], TokenT]
    answer: Callable[[Sequence[TokenT]], Answer | None]
    """What the last token of a sequence says; None where the machine goes on."""


def generate(machine: AutoregressiveMachine[TokenT], sequence: Sequence[TokenT]) -> Iterator[TokenT]:
    """The tokens after a sequence, up to the one that halts; their number is the time T."""
    written = list(sequence)
    while machine.answer(written) is None:
        written.append(machine.next_token(written))
        yield written[-1]


def space(machine: AutoregressiveMachine[TokenT], state: StateFunction[TokenT], sequence: Sequence[TokenT]) -> int:
    """The space S: the length of the longest state, the first one included."""
    written = state(sequence)
    longest = len(written)
    while machine.answer(written) is None:
        written = state((*written, machine.next_token(written)))
        longest = max(longest, len(written))
    return longest


@dataclass(frozen=True)
class Configuration:
    """A snapshot of a Turing machine: its control state, the cells that are not blank, and the head."""

    state: str
    tape: Mapping[int, str]
    head: int


def initial(machine: TuringMachine, word: Sequence[str] = "") -> Configuration:
    """The input from cell 0 on, the head one past it."""
    machine.check_word(word)
    return Configuration(machine.start, dict(enumerate(word)), len(word))


def update(before: Configuration, token: Triple) -> Configuration:
    """The paper's Update: write at the head, move, change state."""
    return Configuration(token.state, {**before.tape, before.head: token.symbol}, before.head + token.move)


def embed(snapshot: Configuration) -> tuple[Triple, ...]:
    """The shortest tokens that write a configuration on an empty tape: all cells from left to right, then back.

    The walk back to the head writes what it finds. An empty tape has an empty embedding.
    """
    state, tape, head = snapshot.state, snapshot.tape, snapshot.head
    if not tape:
        return ()
    min_pos, max_pos = min(tape), max(tape)
    tokens: list[Triple] = []
    cell = min_pos
    for index in range(1, int(state_length(min_pos, max_pos, head)) + 1):
        move = compute_move(index, head, max_pos, min_pos)
        tokens.append(Triple(state, tape[cell], move))
        cell += move
    return tuple(tokens)


def compute_move(index: int, head: int, max_pos: int, min_pos: int) -> int:
    """The move of an embedding's token, counted from 1."""
    if index <= max_pos - min_pos or head > max_pos:
        return 1
    return 0 if head == max_pos else -1


def autoregressive(machine: TuringMachine) -> AutoregressiveMachine[Triple]:
    """The Turing machine as an autoregressive machine: one token for each step."""

    def next_token(sequence: Sequence[Triple]) -> Triple:
        reached = configuration(machine, sequence)
        return Triple(*machine.delta[reached.state, reached.tape.get(reached.head, machine.blank)])

    def answer(sequence: Sequence[Triple]) -> Answer | None:
        return machine.answer(sequence[-1].state if sequence else machine.start)

    return AutoregressiveMachine(next_token, answer)


def state_function(machine: TuringMachine) -> StateFunction[Triple]:
    """s_TM: the embedding of the configuration that a sequence of tokens leads to."""
    return lambda sequence: embed(configuration(machine, sequence))


def configuration(machine: TuringMachine, sequence: Sequence[Triple]) -> Configuration:
    """Where tokens lead from an empty tape: `update` for each in turn."""
    tape: dict[int, str] = {}
    head = 0
    for token in sequence:
        tape[head] = token.symbol
        head += token.move
    return Configuration(sequence[-1].state if sequence else machine.start, tape, head)
