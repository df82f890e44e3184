import subprocess
import sys

import pytest

from pencil import __version__
from pencil.cli.main import COMMANDS
from tests.cli.conftest import RunPencil


def test_help_lists_every_command(pencil: RunPencil) -> None:
    shown = pencil("--help").out
    assert all(command in shown for command in COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_a_command_has_an_example(pencil: RunPencil, command: str) -> None:
    assert f"pencil {command}" in pencil(command, "--help").out.partition("Example")[2]


def test_version(pencil: RunPencil) -> None:
    assert pencil("--version").out == f"pencil {__version__}\n"


def test_bad_input_is_one_line_and_status_2(pencil: RunPencil) -> None:
    result = pencil("trace", "chess")
    assert result.status == 2
    assert result.out == ""
    assert result.err == "pencil: found no task 'chess', expected one of sat, qbf, einstein\n"


@pytest.mark.parametrize(
    "arguments", [["nope"], ["trace"], ["trace", "sat", "--format", "xx"], ["stats", "sat", "--count", "0"]]
)
def test_a_wrong_option_is_one_line_and_status_2(pencil: RunPencil, arguments: list[str]) -> None:
    result = pencil(*arguments)
    assert (result.status, result.out) == (2, "")
    assert result.err.startswith("pencil: ")
    assert result.err.count("\n") == 1


def test_a_closed_pipe_is_no_error() -> None:
    script = f"{sys.executable} -m pencil trace qbf --size 8 | true"
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
    assert "Error" not in done.stderr
