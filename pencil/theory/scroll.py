"""SCROLL: a machine's computation as a PENCIL trace in time O(T) and context O(S) (paper, section 5.2).

Simulate step by step; the first time that the state is at most half as long as the sequence, write `[SEP]`, the state
and `[RETURN]`, and go on from the state alone. With the rule "scroll" (`T [SEP] T' [RETURN] => T'`) an empty input is
the single token `[BOS]`, which the first reduction erases. With the rule "call" the same trace is tail recursion:
`[CALL]` opens the prompt and every state, `[CALL] T [SEP] [CALL] T' [RETURN] => [CALL] T'`. Neither mark counts in the
lengths that are compared.

>>> from pencil.theory.machines import load
>>> " ".join(map(str, scroll(load("bb3"), max_steps=6)))
'B:1:R B:1:L C:0:R A:1:L [SEP] A:0:R A:1:L [RETURN] B:1:R C:0:R [SEP] C:1:R C:0:R [RETURN]'
"""

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Literal, TypeVar

from pencil.theory.machine import AutoregressiveMachine, StateFunction, embed, initial
from pencil.theory.turing import Answer, Triple, TuringMachine, coded_rows, coded_word, wide_tape, written_codes
from pencil.tokens import CALL, RETURN, SEP
from pencil.trace import measure

TokenT = TypeVar("TokenT", bound=Hashable)
BOS = "[BOS]"
Token = Triple | str
"""A step, or one of the marks `[BOS] [CALL] [SEP] [RETURN]`."""
RuleName = Literal["scroll", "call"]


def prompt(machine: TuringMachine, word: Sequence[str] = "", rule: RuleName = "scroll") -> tuple[Token, ...]:
    """What a model is given: the embedded input, with the mark that opens it where there is one."""
    tokens = embed(initial(machine, word))
    if rule == "call":
        return (CALL, *tokens)
    return tokens or (BOS,)


def define_scroll(
    machine: AutoregressiveMachine[TokenT],
    state: StateFunction[TokenT],
    sequence: Sequence[TokenT],
    rule: RuleName = "scroll",
) -> Iterator[TokenT | str]:
    """The paper's trace for any autoregressive machine with a state function: the definition, slow."""
    written = tuple(sequence)
    while machine.answer(written) is None:
        written = (*written, machine.next_token(written))
        yield written[-1]
        summary = state(written)
        if machine.answer(written) is None and 2 * len(summary) <= len(written):
            yield from _OPENING[rule]
            yield from summary
            yield RETURN
            written = summary


def scroll(
    machine: TuringMachine,
    word: Sequence[str] = "",
    rule: RuleName = "scroll",
    max_steps: int | None = None,
) -> Iterator[Token]:
    """Every token after the prompt, up to the one that halts; a stream that holds no more than the tape.

    Equal to `define_scroll`, at O(1) a token: the ends of the written stretch and both lengths are kept from step to
    step. The tape is a list whose negative indices are the cells left of the input.
    """
    row, summary_tokens = coded_rows(machine)[machine.start], _summary_tokens(machine)
    cells, low, high, head = coded_word(machine, word), 0, len(word) - 1, len(word)
    length, half = len(word), 0  # of the sequence; of the tape, which has room for the cells from -half to half - 1
    for _ in repeat(None) if max_steps is None else repeat(None, max_steps):
        if not row:
            return
        if not -half <= head < half:
            cells = wide_tape(cells, low, high, half + 64)
            half = len(cells) // 2
        row, cells[head], move, token = row[cells[head]]
        if head > high:
            high = head
        elif head < low:
            low = head
        head += move
        length += 1
        yield token
        state_length = high - low + 1 if head >= high - 1 else 2 * high - low - head
        if length >= 2 * state_length and row:
            yield from _OPENING[rule]
            yield from _summary(summary_tokens[token.state], cells, low, high, head)
            yield RETURN
            length = state_length


_OPENING: dict[RuleName, tuple[str, ...]] = {"scroll": (SEP,), "call": (SEP, CALL)}


def _summary_tokens(machine: TuringMachine) -> dict[str, dict[int, list[Triple]]]:
    """By control state, move and the code of the symbol: the tokens of a state."""
    return {
        state: {move: [Triple(state, symbol, move) for symbol in machine.alphabet] for move in (-1, 0, 1)}
        for state in machine.states
    }


def _summary(tokens: dict[int, list[Triple]], cells: list[int], low: int, high: int, head: int) -> list[Triple]:
    """The state: `embed` on a coded tape."""
    codes = written_codes(cells, low, high)
    if head > high:
        return [tokens[1][code] for code in codes]
    rightward = [tokens[1][code] for code in codes[:-1]]
    if head == high:
        return [*rightward, tokens[0][codes[-1]]]
    return [*rightward, *(tokens[-1][code] for code in reversed(codes[head - low + 1 :]))]


@dataclass(frozen=True)
class Measured:
    """The sizes of a PENCIL run of a machine."""

    answer: Answer | None
    """None where the tokens ended before the machine halted."""
    steps: int
    """Tokens that stand for a step: T where the machine halted."""
    tokens: int
    """All tokens generated after the prompt, at most 4T (5T with the rule "call")."""
    reductions: int
    peak: int
    """The longest context, at most 3S + 2 and one more for `[BOS]` (3S + 4 with the rule "call")."""


def measure_run(
    machine: TuringMachine,
    word: Sequence[str],
    generated: Iterable[Token],
    rule: RuleName = "scroll",
    max_steps: int | None = None,
) -> Measured:
    """Count what follows the prompt, written by `scroll` or by a model, while the rule erases.

    A model goes on forever: reading stops at the first step, outside of a summary, that halts the machine or is one too
    many.
    """
    opening = prompt(machine, word, rule)
    steps, in_summary, answer = 0, False, machine.answer(machine.start)

    def read() -> Iterator[Token]:
        nonlocal steps, in_summary, answer
        for token in generated:
            if isinstance(token, str):
                in_summary = token != RETURN
            elif not in_summary:
                if steps == max_steps:
                    return
                steps += 1
                answer = machine.answer(token.state)
            yield token
            if answer is not None:
                return

    stats = measure(opening, read() if answer is None else (), scroll=rule == "scroll")
    return Measured(answer, steps, stats.tokens - len(opening), stats.reductions, stats.peak)
