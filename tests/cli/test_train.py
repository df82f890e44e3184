import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pencil.cli.live import describe
from pencil.recipes import RECIPES
from pencil.train.meter import Report
from tests.cli.conftest import RunPencil
from tests.train.examples import small_recipe


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a recipe of seconds."""
    monkeypatch.setitem(RECIPES, "small", lambda: small_recipe(steps=3))
    return "small"


def test_list_shows_every_recipe(pencil: RunPencil) -> None:
    result = pencil("train", "--list")
    assert result.status == 0
    assert all(name in result.out for name in RECIPES)


def test_a_run_ends_with_a_checkpoint_and_an_evaluation(pencil: RunPencil, small: str, tmp_path: Path) -> None:
    result = pencil("train", small, "--out", tmp_path / "run", "--workers", 0)
    assert result.status == 0
    assert result.out.strip() == str(tmp_path / "run")
    assert "step 3 of 3" in result.err
    assert "size 2: accuracy" in result.err
    last = json.loads((tmp_path / "run" / "metrics.jsonl").read_text().splitlines()[-1])
    assert last["evaluation"][0]["count"] == 100
    assert (tmp_path / "run" / "model" / "model.safetensors").exists()


def test_a_directory_is_not_used_twice(pencil: RunPencil, small: str, tmp_path: Path) -> None:
    pencil("train", small, "--out", tmp_path, "--workers", 0, "--steps", 1)
    again = pencil("train", small, "--out", tmp_path, "--workers", 0, "--steps", 1)
    assert again.status == 2
    assert "go on with it by --resume" in again.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "found no recipe; name one"),
        (["qbf33"], "found no recipe 'qbf33'"),
        (["qbf3", "--format", "prose"], "prose"),
        (["qbf3", "--steps", "0"], "steps is 0"),
        (["qbf3", "--steps", "1", "--minutes", "1"], "give one of them"),
        (["qbf3", "--device", "abacus"], "'abacus' is not one of"),
        (["qbf3", "--device", "mps"], "found no device 'mps' here; try cpu"),
        (["qbf3", "--rate", "0"], "learning_rate is 0.0"),
        (["qbf3", "--rate", "inf"], "learning_rate is inf"),
        (["qbf3", "--resume"], "found no run to go on with"),
        (["qbf3", "--start", "nobody"], "found no directory nobody and no model of that name"),
        (["qbf3", "--start", "sat3"], "found a model for sat to start with"),
    ],
)
def test_bad_input_is_one_line(pencil: RunPencil, tmp_path: Path, arguments: list[str], message: str) -> None:
    result = pencil("train", *arguments, "--out", tmp_path / "run")
    assert result.status == 2
    assert message in result.err


@pytest.mark.parametrize("arguments", [["qbf33"], ["qbf3", "--steps", "0"], ["qbf3", "--resume", "--out", "nowhere"]])
def test_bad_input_is_told_before_torch_is_loaded(arguments: list[str]) -> None:
    code = "import sys; sys.modules['torch'] = None; from pencil.cli.main import main; main()"
    found = subprocess.run(
        [sys.executable, "-c", code, "train", *arguments], capture_output=True, text=True, check=False
    )
    assert found.returncode == 2
    assert re.fullmatch(r"pencil: .*\n", found.stderr)


def test_a_run_goes_on_with_what_it_was_started_with(pencil: RunPencil, small: str, tmp_path: Path) -> None:
    pencil("train", small, "--out", tmp_path, "--workers", 0, "--steps", 4, "--seed", 3, "--format", "cot")
    started = json.loads((tmp_path / "run.json").read_text())
    finished = pencil("train", "--resume", "--out", tmp_path, "--workers", 0)
    assert finished.status == 0
    assert "has done all of its 4 steps" in finished.err
    assert "accuracy" not in finished.err
    other = pencil("train", "--resume", "--out", tmp_path, "--seed", 4)
    assert other.status == 2
    assert "the run was started with data seed = 3, not 4" in other.err
    named = pencil("train", "sat3", "--resume", "--out", tmp_path)
    assert named.status == 2
    assert "found a run on qbf of size 2, but sat3 is on sat of size 3" in named.err
    faster = pencil("train", "--resume", "--out", tmp_path, "--rate", 0.5)
    assert faster.status == 2
    assert "the run was started with train learning_rate" in faster.err
    longer = pencil("train", small, "--resume", "--out", tmp_path, "--workers", 0, "--steps", 6)
    assert "step 6 of 6" in longer.err
    started["train"]["steps"] = 6
    assert json.loads((tmp_path / "run.json").read_text()) == started


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_to_all_processes_saves_and_says_how_to_go_on(tmp_path: Path, number: int) -> None:
    command = [sys.executable, "-m", "pencil", "train", "qbf3", "--steps", "4000", "--out", str(tmp_path / "run")]
    process = subprocess.Popen([*command, "--threads", "1"], stderr=subprocess.PIPE, text=True, start_new_session=True)
    assert process.stderr is not None
    assert "step 1 of" in process.stderr.readline()
    time.sleep(1)
    os.killpg(process.pid, number)
    errors = process.stderr.read()
    assert process.wait(timeout=60) == 130
    assert "Traceback" not in errors
    assert errors.strip().endswith("--threads 1 --resume")
    assert f"pencil train qbf3 --steps 4000 --out {tmp_path / 'run'}" in errors


def test_the_live_line_tells_all() -> None:
    report = Report(1200, 4000, 0.01234, 0.9951, 0.001, 6500.0, 0.02, 3725.0)
    assert describe(report) == (
        "step 1,200 of 4,000, loss 0.0123, next token 99.51%, 6,500 tokens/s, data wait 2%, 1:02:05 left"
    )
    unknown = Report(3, None, 1.0, 0.5, 0.001, 10.0, 0.0, None)
    assert describe(unknown) == (
        "step 3 of ?, loss 1.0000, next token 50.00%, 10 tokens/s, data wait 0%, measuring the speed"
    )
