from pathlib import Path
from random import Random

import pytest

from pencil.errors import MachineError
from pencil.theory.formats import write_machine
from pencil.theory.machines import NAMES, find_machine, load, random_machine


@pytest.mark.parametrize("name", NAMES)
def test_every_machine_of_the_library_says_what_it_does(name: str) -> None:
    assert load(name).name == name
    assert load(name).about


def test_a_machine_is_found_by_name_file_or_notation(tmp_path: Path) -> None:
    file = tmp_path / "mine.tm"
    file.write_text(write_machine(load("parity")))
    assert find_machine("parity") == find_machine(str(file))
    assert find_machine("1RB1LB_1LA1RH").delta == load("bb2").delta


def test_an_unknown_machine_lists_the_library() -> None:
    with pytest.raises(MachineError, match="the library holds only counter palindrome"):
        find_machine("abacus")
    with pytest.raises(MachineError, match="expected one of counter palindrome"):
        load("abacus")


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "bytes.tm").write_bytes(b"start \xff")
    with pytest.raises(MachineError, match="byte 7: this is not UTF-8 text"):
        find_machine(str(tmp_path / "bytes.tm"))


def test_random_machines_follow_from_the_seed() -> None:
    assert random_machine(Random(3)) == random_machine(Random(3))
    assert random_machine(Random(3)) != random_machine(Random(4))
