from random import Random

import pytest

from pencil.theory.compiler import compile_program
from pencil.theory.decode.plan import Plan
from pencil.theory.fasp import Expr, Program, aha, seq_len
from pencil.theory.fasp.library import average, rha, rightmost_best_match, rightmost_exact_match, seq_max, seq_sum
from pencil.theory.machines import random_machine
from pencil.theory.program import turing_program
from tests.theory.programs import ALPHABET, digit, odd, word


def heads(value: Expr) -> list[tuple[str, bool, bool]]:
    """Of each head: what it remembers, whether the last match wins, whether it carries sums."""
    plan = Plan(compile_program(Program(ALPHABET, {"value": value})).weights)
    return [(head.kind, head.rightmost, head.sums) for layer in plan.layers for head in layer.heads]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (seq_sum(digit), [("best", False, True)]),
        (average(digit), [("best", False, False)]),
        (seq_sum(digit) + average(digit), [("best", False, False)]),  # the average itself is read too
        (seq_max(digit), [("best", False, False)]),
        (rha(1, odd, digit), [("best", True, False)]),
        (rightmost_best_match(digit, digit, seq_len), [("match", True, False)]),
        (rightmost_exact_match(seq_sum(odd), digit, seq_len, 0), [("best", False, True), ("match", True, False)]),
        (rha(word, word, seq_len), [("grouped", True, False)]),
        (aha(digit, odd, seq_len), [("grouped", False, False)]),
        (aha(average(digit), odd, seq_len), [("best", False, False), ("grouped", False, False)]),
    ],
)
def test_what_a_head_remembers_is_read_off_the_weights(value: Expr, expected: list[tuple[str, bool, bool]]) -> None:
    assert heads(value) == expected


def test_no_head_of_a_turing_machine_scans() -> None:
    plan = Plan(compile_program(turing_program(random_machine(Random(1)))).weights)
    assert [[head.kind for head in layer.heads] for layer in plan.layers] == [
        ["best"],
        ["best", "best"],
        ["best", "best"],
        ["match", "match"],
        [],
    ]
