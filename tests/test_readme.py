"""The README keeps its promises: its commands run, its Python prints what it says, its numbers have a source."""

import doctest
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
CONSOLE = "\n".join(re.findall(r"```console\n(.*?)```", README, flags=re.DOTALL))
COMMANDS = [shlex.split(line[2:], comments=True) for line in CONSOLE.splitlines() if line.startswith("$ ")]


def test_it_is_short() -> None:
    assert len(README.splitlines()) < 150


def test_it_starts_with_two_commands() -> None:
    assert COMMANDS[:2] == [["make", "demo"], ["make", "test"]]


@pytest.mark.parametrize("command", [command for command in COMMANDS if command[0] == "make"], ids=" ".join)
def test_a_make_target_exists(command: list[str]) -> None:
    subprocess.run([*command, "--dry-run"], cwd=ROOT, check=True, capture_output=True)


@pytest.mark.parametrize("command", [command for command in COMMANDS if command[0] != "make"], ids=" ".join)
def test_a_command_runs(command: list[str], tmp_path: Path) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        command,
        cwd=tmp_path,
        env={**os.environ, "PATH": path},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_the_python_prints_what_it_says() -> None:
    failed, attempted = doctest.testfile(str(ROOT / "README.md"), module_relative=False)
    assert attempted > 0
    assert failed == 0


def test_every_file_of_the_tree_exists() -> None:
    tree = README.partition("## The files")[2]
    paths = re.findall(r"^( *)([\w./]+)(?: |$)", re.findall(r"```text\n(.*?)```", tree, re.DOTALL)[0], re.MULTILINE)
    folder = ""
    for indent, name in paths:
        folder = folder if indent else (name if name.endswith("/") else "")
        place = ROOT / (folder + name if indent else name)
        assert place.exists(), f"{place} is in the README's file tree but not on disk"
