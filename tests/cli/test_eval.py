import json
from pathlib import Path

import pytest

from pencil.train.loop import Hooks, Machine, train
from tests.cli.conftest import RunPencil
from tests.train.examples import small_recipe


@pytest.fixture(scope="module")
def run_directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("runs") / "small"
    train(small_recipe(steps=1), out, Machine(workers=0), Hooks())
    return out


def test_a_table_of_all_figures(pencil: RunPencil, run_directory: Path) -> None:
    result = pencil("eval", run_directory, "--count", 4)
    assert result.status == 0
    assert all(word in result.out for word in ("accuracy", "trace rate", "peak", "reductions", "seconds"))
    assert "0.0%" in result.out
    assert max(map(len, result.out.splitlines()[:-1])) <= 80
    assert "..." not in result.out
    assert f"what went wrong is in {run_directory / 'failures.txt'}" in result.out
    assert (run_directory / "failures.txt").read_text().startswith("4 of 4 instances went wrong.")


def test_a_model_that_ships_is_known_by_its_name(pencil: RunPencil) -> None:
    result = pencil("eval", "sat3", "--count", 2, "--json")
    [report] = json.loads(result.out)["reports"]
    assert (report["task"], report["size"], report["count"]) == ("sat", 3, 2)


def test_processes_share_the_instances(pencil: RunPencil) -> None:
    result = pencil("eval", "sat3", "--count", 4, "--processes", 2, "--json")
    [report] = json.loads(result.out)["reports"]
    assert (report["count"], report["accuracy"]) == (4, 1.0)


@pytest.mark.parametrize("format", ["pencil", "cot", "direct"])
def test_json_of_any_format(pencil: RunPencil, run_directory: Path, format: str) -> None:
    result = pencil("eval", run_directory, "--count", 2, "--format", format, "--json")
    [report] = json.loads(result.out)["reports"]
    assert (report["task"], report["size"], report["count"], report["format"]) == ("qbf", 2, 2, format)


def test_a_checkpoint_alone_is_enough(pencil: RunPencil, run_directory: Path, tmp_path: Path) -> None:
    failures = tmp_path / "wrong.txt"
    result = pencil("eval", run_directory / "model", "--count", 2, "--failures", failures)
    assert result.status == 0
    assert failures.read_text().startswith("2 of 2 instances went wrong.")
    assert sorted(path.name for path in (run_directory / "model").iterdir()) == [
        "config.json",
        "metrics.json",
        "model.safetensors",
        "vocab.json",
    ]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--size", 4], "the model has no word '3'"),
        (["--size", 99], "no size 99"),
        (["--format", "prose"], "prose"),
        (["--failures", "nowhere/wrong.txt"], "nowhere/wrong.txt: found no directory nowhere"),
    ],
)
def test_bad_options_are_one_line(pencil: RunPencil, run_directory: Path, options: list[object], message: str) -> None:
    result = pencil("eval", run_directory, *options)
    assert result.status == 2
    assert message in result.err


def test_a_directory_without_a_model_is_one_line(pencil: RunPencil, tmp_path: Path) -> None:
    result = pencil("eval", tmp_path)
    assert result.status == 2
    assert "found no config.json" in result.err
