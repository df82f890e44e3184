import json
from pathlib import Path

import pytest

from pencil.theory.formats import write_machine
from pencil.theory.machines import NAMES, load
from tests.cli.conftest import RunPencil


def test_json_has_the_sizes_of_a_scroll(pencil: RunPencil) -> None:
    result = pencil("tm", "run", "counter", "#00000000", "--with", "scroll", "--json")
    assert result.status == 0
    assert json.loads(result.out) == {
        "machine": "counter",
        "input": "#00000000",
        "with": "scroll",
        "rule": "scroll",
        "model": None,
        "answer": "accept",
        "steps": 1014,
        "tokens": 2169,
        "reductions": 95,
        "peak": 40,
        "space": 18,
        "cells": 10,
        "cot_peak": 1023,
        "tape": "#00000000$",
    }


def test_the_simulator_counts_as_a_chain_of_thought(pencil: RunPencil) -> None:
    report = json.loads(pencil("tm", "run", "palindrome", "abba", "--json").out)
    assert (report["tokens"], report["peak"], report["reductions"], report["rule"]) == (16, 20, 0, None)


def test_the_call_rule_needs_one_more_token_for_each_reduction(pencil: RunPencil) -> None:
    report = json.loads(pencil("tm", "run", "bb4", "--with", "scroll", "--rule", "call", "--json").out)
    assert (report["tokens"], report["peak"], report["rule"]) == (199 + 8, 66 + 2, "call")


@pytest.mark.parametrize("rule", ["scroll", "call"])
@pytest.mark.parametrize(
    ("machine", "word"),
    [("bb4", ""), ("counter", "#000"), ("palindrome", "abab"), ("addition", "11+1"), ("parity", "")],
)
def test_the_transformer_runs_as_defined(pencil: RunPencil, machine: str, word: str, rule: str) -> None:
    defined, modelled = (
        json.loads(pencil("tm", "run", machine, word, "--with", way, "--rule", rule, "--json").out)
        for way in ("scroll", "transformer")
    )
    assert modelled["model"].startswith("5 layers, width ")
    assert modelled == {**defined, "with": "transformer", "model": modelled["model"]}


def test_people_get_one_size_a_line(pencil: RunPencil) -> None:
    lines = pencil("tm", "run", "bb5", "--max-steps", 47_000).out.splitlines()
    assert "input       (empty)" in lines
    assert "steps       47,000" in lines
    assert lines[-1].endswith("…")


@pytest.mark.parametrize("way", ["simulator", "scroll", "transformer"])
def test_the_limit_is_stated_with_a_status_of_its_own(pencil: RunPencil, way: str) -> None:
    result = pencil("tm", "run", "bb5", "--max-steps", 100, "--with", way, "--json")
    report = json.loads(result.out)
    assert (result.status, report["steps"], report["answer"]) == (3, 100, None)
    assert result.err == "stopped after 100 steps without an answer; try a larger --max-steps\n"


@pytest.mark.parametrize("way", ["simulator", "scroll", "transformer"])
def test_a_machine_that_starts_in_a_halting_state_has_an_answer(pencil: RunPencil, tmp_path: Path, way: str) -> None:
    file = tmp_path / "done.tm"
    file.write_text("symbols a\nstart s\naccept s\n")
    report = json.loads(pencil("tm", "run", file, "aaa", "--with", way, "--json").out)
    assert (report["answer"], report["steps"], report["tokens"], report["space"]) == ("accept", 0, 0, 3)


def test_long_symbols_are_given_with_spaces(pencil: RunPencil, tmp_path: Path) -> None:
    file = tmp_path / "words.tm"
    file.write_text("symbols yes no\nstart s\naccept a\nreject r\ns _ -> s no L\ns yes -> a = N\n")
    assert json.loads(pencil("tm", "run", file, "no yes", "--json").out)["tape"] == "no yes no"
    assert json.loads(pencil("tm", "run", file, "yes", "--json").out)["answer"] == "accept"


def test_a_run_can_be_interrupted(pencil: RunPencil, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("pencil.theory.turing.simulate", interrupted)
    result = pencil("tm", "run", "bb5")
    assert (result.status, result.out, result.err) == (130, "", "interrupted\n")


def test_the_library_is_listed(pencil: RunPencil) -> None:
    assert all(name in pencil("tm", "list").out for name in NAMES)
    assert [row["machine"] for row in json.loads(pencil("tm", "list", "--json").out)] == list(NAMES)


def test_the_tape_is_drawn(pencil: RunPencil, tmp_path: Path) -> None:
    assert pencil("tm", "show", "palindrome", "abba").out.splitlines()[1] == " 1 pick    a b b[a]$"
    out = tmp_path / "tape.png"
    assert pencil("tm", "show", "bb4", "--out", out).out.strip() == str(out)
    assert out.exists()


def test_a_good_file_passes(pencil: RunPencil, tmp_path: Path) -> None:
    file = tmp_path / "parity.tm"
    file.write_text(write_machine(load("parity")))
    result = pencil("tm", "check", file)
    assert (result.status, result.out) == (0, f"{file}: fine; 5 states, 3 symbols, 12 rules\n")


def test_every_problem_of_a_file_has_its_line(pencil: RunPencil, tmp_path: Path) -> None:
    file = tmp_path / "bad.tm"
    file.write_text("symbols 0\nstart s\ns 0 -> s _ R\ns 1 -> t 0 L\n")
    result = pencil("tm", "check", file)
    assert result.status == 2
    assert result.err.splitlines() == [
        f"{file}: line 3: it writes a blank, which no machine may; write a symbol that stands for it",
        f"{file}: line 4: the state 't' is unknown",
        f"{file}: line 4: the symbol '1' is unknown",
        f"{file}: rules: there is no rule for state 's' reading '_', expected one for every pair",
    ]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["run", "abacus"], "there is no such file, and the library holds only counter"),
        (["run", "parity", "012"], "symbol 3 of the input: found '2', expected one of 0 1 $"),
        (["run", "1RB1LB_1LA"], "group 2: found '1LA', expected 2 steps such as 1RB"),
        (["show", "bb4", "--out", "no/such/place.png"], "cannot write no/such/place.png"),
    ],
)
def test_bad_input_is_one_line_and_status_2(pencil: RunPencil, arguments: list[str], complaint: str) -> None:
    result = pencil("tm", *arguments)
    assert (result.status, result.out) == (2, "")
    assert complaint in result.err
    assert result.err.count("\n") == 1


def test_a_missing_file_is_named(pencil: RunPencil) -> None:
    result = pencil("tm", "check", "nowhere.tm")
    assert result.status == 2
    assert "nowhere.tm: machine: there is no such file" in result.err
