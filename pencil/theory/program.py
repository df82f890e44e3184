"""The paper's main program: a FASP program that makes any Turing machine run under PENCIL (appendix "Main Result").

The printed listing with its mistakes corrected; docs/theory.md lists them. The sequence is `T [SEP] T' [RETURN]`: T are
steps of the machine, one token each, and T' is the shortened state. Positions on the tape are counted from the first
cell of T. With the rule "call" a `[CALL]` opens T and T'.
"""

from collections.abc import Sequence
from itertools import product
from typing import Any

from pencil.theory.fasp.expr import Expr, concat, seq_len, token
from pencil.theory.fasp.library import (
    equal,
    finite_function,
    if_then_else,
    none_of,
    onehot,
    promise,
    relu,
    rha,
    rightmost_best_match,
    rightmost_exact_match,
    seq_or,
    seq_sum,
)
from pencil.theory.fasp.program import Program
from pencil.theory.fasp.types import Kind
from pencil.theory.scroll import BOS, RuleName, Token
from pencil.theory.turing import Triple, TuringMachine
from pencil.tokens import CALL, RETURN, SEP

_MOVES = (-1, 0, 1)


def alphabet(machine: TuringMachine, rule: RuleName = "scroll") -> tuple[Token, ...]:
    """The tokens of a machine's transformer: all steps, then the marks."""
    steps = [Triple(*step) for step in product(machine.states, machine.symbols, _MOVES)]
    return (*steps, SEP, RETURN, CALL if rule == "call" else BOS)


def turing_program(machine: TuringMachine, rule: RuleName = "scroll") -> Program:
    """The program whose next token is that of the machine's PENCIL trace, for every machine and both rules.

    After a token that halts the machine it predicts nothing: the result is zero.
    """
    words = alphabet(machine, rule)
    values = _phases(words[-1])
    values |= _features(machine, words)
    values |= _tape(**values)
    values |= _simulation(machine, words, **values)
    values |= _summary(machine, words, **values)
    values["result"] = if_then_else(values["exist_sep"], values["summary"], values["simulation"])
    return Program(words, values)


def _features(machine: TuringMachine, words: Sequence[Token]) -> dict[str, Expr]:
    """What a token says; the opening mark says the start state, an empty cell and no move, other marks nothing."""
    says: dict[Token, Triple] = {word: word for word in words if isinstance(word, Triple)}
    says |= {words[-1]: Triple(machine.start, machine.blank, 0)}
    no_state, no_symbol = [0] * len(machine.states), [0] * len(machine.alphabet)
    return {
        "get_state": token({word: _row(said.state, machine.states) for word, said in says.items()}, no_state),
        "get_symbol": token({word: _row(said.symbol, machine.alphabet) for word, said in says.items()}, no_symbol),
        "get_move": token({word: said.move for word, said in says.items()}, 0),
    }


def _row(element: str, elements: Sequence[str]) -> list[int]:
    return [int(element == other) for other in elements]


def _phases(opening: Token) -> dict[str, Expr]:
    """Which tokens are steps (T), which the summary (T'), and how many; the opening mark is not counted."""
    is_sep, is_open = token({SEP: 1}, 0), token({opening: 1}, 0)
    exist_sep = seq_or(is_sep)
    sim_phase = ~exist_sep
    sum_phase = promise(exist_sep - is_sep, Kind.BOOL)
    return {
        "is_sep": is_sep,
        "exist_sep": exist_sep,
        "sim_phase": sim_phase,
        "sim_len": seq_sum(sim_phase & ~is_open),
        "sum_len": seq_sum(sum_phase & ~is_open),
    }


def _tape(get_move: Expr, exist_sep: Expr, sim_phase: Expr, **_: Expr) -> dict[str, Expr]:
    """Where the head is, and where the written stretch ends; all of it stands still after `[SEP]`."""
    sim_move = get_move * sim_phase
    next_pos = seq_sum(sim_move)
    current_pos = next_pos - sim_move
    penalty = 2 * (seq_len * exist_sep)  # a position after [SEP] never has the best score
    max_pos = rha(1, current_pos - penalty, current_pos)
    min_pos = rha(1, -current_pos - penalty, current_pos)
    return {
        "next_pos": next_pos,
        "current_pos": current_pos,
        "max_pos": max_pos,
        "min_pos": min_pos,
        "sum_pos": seq_sum(get_move - sim_move),
        "expected_len": max_pos - min_pos + relu(max_pos - next_pos - 1) + 1,
    }


def _simulation(
    machine: TuringMachine,
    words: Sequence[Token],
    get_state: Expr,
    get_symbol: Expr,
    sim_phase: Expr,
    sim_len: Expr,
    next_pos: Expr,
    current_pos: Expr,
    expected_len: Expr,
    exist_sep: Expr,
    **_: Expr,
) -> dict[str, Expr]:
    """One step of the machine, or `[SEP]` the first time that the state is at most half as long as T."""

    def transition(state: str, symbol: str) -> list[int]:
        step = machine.delta.get((state, symbol))
        return [int(step is not None and word == Triple(*step)) for word in words]

    state = promise(rha(1, sim_phase, get_state), Kind.ONEHOT)
    blank = onehot(machine.blank, machine.alphabet)
    # The head is at most one cell outside of the written stretch, so a penalty of 2 hides what comes after [SEP].
    current_symbol = rightmost_exact_match(next_pos, current_pos, get_symbol, blank, 2 * exist_sep)
    symbol = promise(current_symbol, Kind.ONEHOT)
    step = finite_function(transition, (state, machine.states), (symbol, machine.alphabet))
    end_simulation = sim_len >= 2 * expected_len
    simulation = if_then_else(end_simulation, onehot(SEP, words), promise(step, Kind.BOOL))
    return {"state": state, "symbol": symbol, "end_simulation": end_simulation, "simulation": simulation}


def _summary(
    machine: TuringMachine,
    words: Sequence[Token],
    is_sep: Expr,
    exist_sep: Expr,
    get_symbol: Expr,
    state: Expr,
    next_pos: Expr,
    current_pos: Expr,
    max_pos: Expr,
    min_pos: Expr,
    sum_pos: Expr,
    sum_len: Expr,
    expected_len: Expr,
    **_: Expr,
) -> dict[str, Expr]:
    """The next token of T', the embedding of the configuration, or `[RETURN]` when it is complete."""

    def summary_token(*step: Any) -> list[int]:
        return [int(word == step) for word in words]

    past = sum_len >= max_pos - min_pos
    minus, zero = past & (next_pos < max_pos), past & equal(next_pos, max_pos)
    moves = promise(concat(minus, zero, none_of(minus, zero)), Kind.ONEHOT)
    found = rightmost_best_match(sum_pos + min_pos, current_pos, get_symbol, 2 * exist_sep)
    symbol = promise(found, Kind.ONEHOT)
    step = finite_function(summary_token, (state, machine.states), (symbol, machine.alphabet), (moves, _MOVES))
    end_summary = equal(sum_len, expected_len)
    summary = if_then_else(end_summary, onehot(RETURN, words), promise(step, Kind.BOOL))
    if CALL in words:
        summary = if_then_else(is_sep, onehot(CALL, words), summary)
    return {"summary_symbol": symbol, "summary_moves": moves, "end_summary": end_summary, "summary": summary}
