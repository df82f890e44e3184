import json
import sys
from io import BytesIO, TextIOWrapper
from pathlib import Path

import pytest

from pencil.cli import solve
from pencil.model.pretrained import find
from pencil.tasks import get_task
from pencil.tasks.base import read_text
from pencil.tasks.recognise import recognise
from tests.cli.conftest import RunPencil
from tests.cli.parrot import RIGHT, SPEECHLESS, WRONG


def type_into_stdin(monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", TextIOWrapper(BytesIO(data)))


@pytest.mark.usefixtures("shipped")
@pytest.mark.parametrize("text", RIGHT)
def test_the_answer_alone_goes_to_stdout(pencil: RunPencil, text: str) -> None:
    result = pencil("solve", text, "--check")
    assert (result.status, result.out) == (0, RIGHT[text] + "\n")


@pytest.mark.usefixtures("shipped")
def test_a_file_and_standard_input(pencil: RunPencil, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dimacs = "c (1 or 2) and not 1\np cnf 2 2\n1 2 0\n-1 0\n"
    (tmp_path / "a problem.cnf").write_text(dimacs)
    assert pencil("solve", tmp_path / "a problem.cnf").out == "True\n"
    for arguments in (["-"], []):
        type_into_stdin(monkeypatch, dimacs.encode())
        assert pencil("solve", *arguments).out == "True\n"


def test_a_model_may_be_named(pencil: RunPencil, parrots: Path) -> None:
    assert pencil("solve", WRONG, "--model", parrots / "sat").out == "False\n"


@pytest.mark.usefixtures("shipped")
def test_a_wrong_answer_fails_the_check(pencil: RunPencil) -> None:
    assert pencil("solve", WRONG).status == 0
    checked = pencil("solve", WRONG, "--check")
    assert (checked.status, checked.out) == (1, "False\n")
    assert "the answer is wrong" in checked.err


@pytest.mark.usefixtures("shipped")
def test_without_an_answer_stdout_is_empty(pencil: RunPencil) -> None:
    result = pencil("solve", SPEECHLESS)
    assert (result.status, result.out) == (1, "")
    assert "no answer: after 1 tokens its last words state none" in result.err


@pytest.mark.usefixtures("shipped")
def test_a_problem_unlike_those_trained_on_gets_a_note(pencil: RunPencil) -> None:
    first = next(iter(RIGHT))
    assert "note: this problem has size 2, unlike those of size 3" in pencil("solve", first).err


@pytest.mark.usefixtures("shipped")
def test_thoughts_go_to_stderr(pencil: RunPencil) -> None:
    result = pencil("solve", next(iter(RIGHT)), "--show")
    assert result.out == "True\n"
    assert result.err.count("held") == 2
    assert result.err.splitlines()[-1].endswith("Answer: True")


@pytest.mark.usefixtures("shipped")
def test_json_tells_what_it_took(pencil: RunPencil) -> None:
    shown = json.loads(pencil("solve", next(iter(RIGHT)), "--json", "--check").out)
    assert (shown["task"], shown["size"], shown["answer"], shown["verified"]) == ("sat", 2, "True", True)
    assert (shown["stop"], shown["reductions"]) == ("end", 2)
    assert shown["tokens"] > shown["peak"] / 2
    assert "size 2" in shown["note"]
    assert json.loads(pencil("solve", next(iter(RIGHT)), "--json").out)["verified"] is None


def test_a_model_that_is_often_wrong_says_so() -> None:
    metrics = {"evaluation": [{"size": 3, "accuracy": 0.99}, {"size": 4, "accuracy": 0.6}]}
    notes = [solve._doubt(metrics, size) for size in (3, 4, 5)]
    assert notes == [
        None,
        "the model was right about 60% of the problems of size 4 that it was measured on; --check verifies its answer",
        None,
    ]


@pytest.mark.usefixtures("shipped")
@pytest.mark.parametrize(
    ("problem", "complaint"),
    [
        ("nosuch.cnf", "nosuch.cnf: found No such file or directory"),
        (".", "Is a directory"),
        ("hello there", "found 'hello there', expected a DIMACS"),
        ("( 1 ∨ banana )", "clause 1, word 4: found 'banana'"),
        ("( 4 )", "was trained on sat of size 3 and has no word '4'"),
        ("∀ 1 ∃ 2 : ( 1 ∨ 2 )", "no model for qbf ships"),
        (" ", "found nothing"),
        ("", "found nothing"),
    ],
)
def test_bad_input_is_one_line(pencil: RunPencil, problem: str, complaint: str) -> None:
    result = pencil("solve", problem)
    assert (result.status, result.out) == (2, "")
    assert complaint in result.err
    assert result.err.count("\n") == 1


@pytest.mark.usefixtures("shipped")
def test_a_mistake_in_a_file_is_placed_there(pencil: RunPencil, tmp_path: Path) -> None:
    (tmp_path / "bad.cnf").write_text("p cnf 2 2\n1 2 0\n")
    assert "bad.cnf: line 1: found 'p cnf 2 2'" in pencil("solve", tmp_path / "bad.cnf").err


@pytest.mark.usefixtures("shipped")
def test_binary_input_is_said_so(pencil: RunPencil, monkeypatch: pytest.MonkeyPatch) -> None:
    type_into_stdin(monkeypatch, b"p cnf \xff\xfe")
    assert "standard input: byte 6: found binary data" in pencil("solve", "-").err


def test_a_terminal_is_not_waited_for(pencil: RunPencil, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    result = pencil("solve")
    assert result.status == 2
    assert "found no problem; name a file" in result.err


def test_an_unknown_model_is_said_so(pencil: RunPencil, shipped: Path) -> None:
    result = pencil("solve", WRONG, "--model", "nonesuch")
    assert result.status == 2
    assert f"no model of that name; models that ship: {shipped.name}" in result.err


@pytest.mark.slow
@pytest.mark.parametrize("file", ["formula.cnf", "game.qdimacs", "houses.txt"])
def test_a_model_that_ships_solves_the_example(pencil: RunPencil, file: str) -> None:
    path = Path(__file__).parent.parent.parent / "examples" / file
    task = get_task(recognise(read_text(path)))
    size = task.size_of(task.read(path))
    model = find(task.name, size)
    if model is None or size not in model.sizes:
        pytest.skip(f"no model for {task.name} of size {size} ships yet")
    result = pencil("solve", path, "--check")
    assert (result.status, result.out.strip()) == (0, task.solve(task.read(path)))
    assert "unlike those" not in result.err
