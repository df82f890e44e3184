from contextlib import suppress
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pencil.errors import MachineError
from pencil.theory.formats import parse_machine, parse_notation, write_machine
from pencil.theory.machines import NAMES, load, random_machine
from pencil.theory.turing import simulate

FLIP = """
// flips every bit
about   flips bits
symbols 0 1 $
start   s
accept  done

s    _ -> flip $ L
s    0|1|$ -> s = N   // never read
flip 0 -> flip 1 L
flip 1 -> flip 0 L
flip $ -> flip $ L
flip _ -> done $ N
"""


def problems_of(text: str) -> tuple[tuple[str, str], ...]:
    with pytest.raises(MachineError) as error:
        parse_machine(text, "bad")
    return error.value.problems


def test_a_file_becomes_a_machine() -> None:
    machine = parse_machine(FLIP, "flip")
    assert (machine.name, machine.about, machine.states) == ("flip", "flips bits", ("s", "flip", "done"))
    assert machine.delta["s", "1"] == ("s", "1", 0)
    assert "".join(simulate(machine, "0110").tape) == "$1001$"


@pytest.mark.parametrize("name", NAMES)
def test_writing_and_reading_gives_the_machine_back(name: str) -> None:
    assert parse_machine(write_machine(load(name))) == load(name)


def test_writing_and_reading_gives_random_machines_back() -> None:
    for seed in range(100):
        machine = random_machine(Random(seed))
        assert parse_machine(write_machine(machine)) == machine


def test_a_missing_rule_rejects_where_there_is_a_reject_state() -> None:
    machine = parse_machine("symbols a b\nstart s\naccept yes\nreject no\ns a -> yes a N")
    assert (machine.delta["s", "b"], machine.delta["s", "_"]) == (("no", "b", 0), ("no", "a", 0))


def test_a_missing_rule_is_an_error_where_there_is_none() -> None:
    assert problems_of("symbols a b\nstart s\naccept yes\ns a|_ -> yes a N") == (
        ("rules", "there is no rule for state 's' reading 'b', expected one for every pair"),
    )


def test_all_problems_come_with_their_lines() -> None:
    problems = problems_of(
        "symbols a a\n"
        "start s t\n"
        "colour blue\n"
        "accept yes\n"
        "reject no\n"
        "s a -> yes _ N\n"
        "s a -> no a N\n"
        "s b -> q a R\n"
        "s _ -> yes a up\n"
        "start s\n"
    )
    assert [(place, reason.split(",")[0]) for place, reason in problems] == [
        ("line 1", "'a' is declared twice"),
        ("line 2", "'start' takes exactly one word"),
        ("line 2", "the state 's t' is unknown"),
        ("line 3", "found 'colour blue'"),
        ("line 6", "it writes a blank"),
        ("line 7", "state 's' reading 'a' has a rule on line 6"),
        ("line 8", "the state 'q' is unknown"),
        ("line 8", "the symbol 'b' is unknown"),
        ("line 9", "found 's _ -> yes a up'"),
        ("line 10", "'start' was given on line 2 already"),
    ]


@pytest.mark.parametrize("text", ["", "symbols", "start", "blank", "reject no", "symbols a\nreject no\nblank"])
def test_an_unfinished_file_is_an_error_not_a_crash(text: str) -> None:
    assert problems_of(text)


def test_what_is_no_machine_at_all_is_told_in_one_short_line() -> None:
    with pytest.raises(MachineError, match=r"line 5: .*; and 47 more$"):
        parse_machine("this is prose\n" * 50)


WORDS = "name states symbols blank start accept reject -> = | a|b a b _ s t L R N //".split()


@given(st.lists(st.lists(st.sampled_from(WORDS), max_size=7), max_size=6))
def test_any_text_is_a_machine_or_a_list_of_problems(lines: list[list[str]]) -> None:
    text = "\n".join(" ".join(words) for words in lines)
    with suppress(MachineError):
        machine = parse_machine(text)
        assert simulate(machine, max_steps=10).steps <= 10


def test_a_symbol_of_the_format_itself_is_reserved() -> None:
    assert ("line 1", "'=' is reserved and cannot be a symbol") in problems_of("symbols = a\nstart s\nreject s")


def test_a_name_that_text_cannot_hold_is_not_written() -> None:
    machine = random_machine(Random(0))
    spaced = parse_notation("1RB1LB_1LA1RH")
    assert write_machine(machine)
    with pytest.raises(MachineError, match="'a b' cannot be written as text"):
        write_machine(type(spaced)("x", ("q",), ("a b",), "_", "q", ("q",), (), {}))


def test_the_notation_reads_a_blank_as_zero() -> None:
    machine = parse_notation("1RB1LB_1LA0LC_1RH1LD_1RD0RA")
    assert machine.states == ("A", "B", "C", "D", "H")
    assert machine.delta["B", "1"] == ("C", "0", -1)
    assert all(machine.delta[state, "_"] == machine.delta[state, "0"] for state in "ABCD")


def test_the_notation_holds_more_symbols_and_undefined_steps() -> None:
    machine = parse_notation("1RB2LB---_2LA2RB1LB")
    assert machine.symbols == ("0", "1", "2")
    assert machine.delta["A", "2"] == ("H", "1", 1)
    assert simulate(machine).steps == 38  # the champion of two states and three symbols


@pytest.mark.parametrize("text", ["1RB1LB_1LA", "1RB1LB_1XA1RH", "1RB2LB_1LA1RH", "1R_1LA"])
def test_a_broken_notation_names_the_group(text: str) -> None:
    with pytest.raises(MachineError, match=r"group \d: found '\w+', expected"):
        parse_notation(text)
