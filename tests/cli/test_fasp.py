import json
from pathlib import Path

import pytest

from pencil.theory.weights import Weights
from tests.cli.conftest import RunPencil

EXAMPLES = Path(__file__).parents[2] / "examples" / "fasp"


def test_run_draws_every_value_under_its_token(pencil: RunPencil) -> None:
    result = pencil("fasp", "run", EXAMPLES / "dyck.py", "())(")
    assert result.status == 0
    assert result.out.splitlines() == [
        "          ( )  )  (",
        "depth     1 0 -1  0  int",
        "lowest    1 0 -1 -1  int",
        "balanced  · █  ·  ·  bool",
    ]


def test_run_tells_the_next_tokens(pencil: RunPencil) -> None:
    assert pencil("fasp", "run", EXAMPLES / "reverse.py", "ab#b").out.splitlines()[-1] == "next token: # # b a"


def test_the_main_program_continues_a_machine(pencil: RunPencil) -> None:
    steps = "B:1:R A:1:L B:1:L A:1:L B:1:R H:1:R"
    result = pencil("fasp", "run", EXAMPLES / "turing.py", f"[BOS] {steps.rsplit(maxsplit=1)[0]}")
    assert result.out.splitlines()[-1] == f"next token: {steps}"


@pytest.mark.parametrize("floats", [[], ["--floats"]])
def test_json_holds_all_values(pencil: RunPencil, floats: list[str]) -> None:
    report = json.loads(pencil("fasp", "run", EXAMPLES / "majority.py", "abb", "--json", *floats).out)
    assert report["input"] == ["a", "b", "b"]
    assert report["values"]["lead"] == {"type": "int", "values": [[1], [0], [-1]]}
    assert report["values"]["share_of_a"]["values"][:2] == [[1], [0.5]]


def test_show_lists_the_program_and_draws_its_attention(pencil: RunPencil) -> None:
    lines = pencil("fasp", "show", EXAMPLES / "induction.py", "aba").out.splitlines()
    assert lines[0] == "FASP[n; ReLU, x] over a b c"
    assert lines[6:10] == ["   a b a", "a  █", "b  █ ·", "a  · █ ·"]
    assert len(pencil("fasp", "show", EXAMPLES / "induction.py").out.splitlines()) == 4


def test_compile_reports_checks_and_writes(pencil: RunPencil, tmp_path: Path) -> None:
    out = tmp_path / "anbn.safetensors"
    report = json.loads(pencil("fasp", "compile", EXAMPLES / "anbn.py", "aabb", "--out", out, "--json").out)
    assert report["agrees"] is True
    assert report["layers"] == len(Weights.load(out).layers) == 3
    assert report["exact_length"]["float32"] < report["exact_length"]["float64"]
    assert "exact in float64  up to" in pencil("fasp", "compile", EXAMPLES / "anbn.py").out


def test_a_literal_compilation_is_deeper(pencil: RunPencil) -> None:
    folded, literal = (
        json.loads(pencil("fasp", "compile", EXAMPLES / "reverse.py", "ab#", "--json", *flag).out)
        for flag in ([], ["--literal"])
    )
    assert folded["layers"] < literal["layers"]
    assert literal["agrees"] is True


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("x = 1", "program.py: found no PROGRAM, expected PROGRAM = Program"),
        ("PROGRAM = 1", "found a PROGRAM of type int"),
        ("\nx = 1 / 0", "program.py:2: found ZeroDivisionError: division by zero"),
        ("\n\nx = (", "program.py:3: found SyntaxError"),
        (
            "from pencil.theory.fasp import *\nfrom pencil.theory.fasp.library import *\n"
            "a = average(seq_len)\nb = a <= 1\nPROGRAM = Program('ab', {'value': b})",
            "program.py:4: leq found (real, bool), expected (int[d], int[d])",
        ),
    ],
)
def test_a_bad_program_is_told_with_its_place(pencil: RunPencil, tmp_path: Path, source: str, message: str) -> None:
    file = tmp_path / "program.py"
    file.write_text(source)
    result = pencil("fasp", "run", file, "ab")
    assert result.status == 2
    assert message in result.err


def test_a_missing_file_and_an_unknown_token_are_told(pencil: RunPencil) -> None:
    assert "found no such file" in pencil("fasp", "run", "nowhere.py", "ab").err
    result = pencil("fasp", "run", EXAMPLES / "dyck.py", "(]")
    assert (result.status, "found ]" in result.err) == (2, True)
