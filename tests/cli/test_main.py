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


def test_a_closed_pipe_is_no_error() -> None:
    script = f"{sys.executable} -m pencil trace qbf --size 8 --steps | head -1"
    done = subprocess.run(["bash", "-o", "pipefail", "-c", script], capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr
