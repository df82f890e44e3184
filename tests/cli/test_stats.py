import json

import pytest

from pencil import get_task
from tests.cli.conftest import RunPencil


def test_json_has_longest_and_mean(pencil: RunPencil) -> None:
    shown = json.loads(pencil("stats", "qbf", "--size", 3, "--count", 5, "--json").out)
    task = get_task("qbf", 3)
    stats = [task.trace(task.draw(0, index)).stats() for index in range(5)]
    assert (shown["task"], shown["size"], shown["count"]) == ("qbf", 3, 5)
    assert shown["trace"] == {"longest": max(s.tokens for s in stats), "mean": sum(s.tokens for s in stats) / 5}
    assert shown["peak"] == {"longest": max(s.peak for s in stats), "mean": sum(s.peak for s in stats) / 5}
    assert shown["reductions"]["longest"] == max(s.reductions for s in stats)


def test_the_table_names_what_it_shows(pencil: RunPencil) -> None:
    shown = pencil("stats", "sat", "--size", 3, "--count", 2).out
    assert "2 instances of sat, size 3" in shown
    assert "peak (with the rule)" in shown


@pytest.mark.parametrize("count", ["0", "-1", "many"])
def test_a_count_is_a_positive_number(pencil: RunPencil, count: str) -> None:
    assert pencil("stats", "sat", "--count", count).status == 2


def test_settings_of_the_puzzle(pencil: RunPencil) -> None:
    def peak(*options: str) -> int:
        return int(json.loads(pencil("stats", "einstein", "--count", 3, "--json", *options).out)["peak"]["longest"])

    assert peak("--no-tail-recursion") > peak()
    assert peak("--minimal") != peak()


def test_a_setting_of_another_task_is_an_error(pencil: RunPencil) -> None:
    result = pencil("stats", "sat", "--minimal")
    assert result.status == 2
    assert result.err == "pencil: sat has no setting minimal; leave it out\n"
