import json
from pathlib import Path

import pytest
import torch

import pencil
from pencil.errors import CheckpointError, ConfigError, ParseError
from pencil.generate.events import Reduced, Stopped, Token
from pencil.generate.limits import Limits
from pencil.generate.solver import Solver
from pencil.model.checkpoint import read, save
from pencil.tasks import TASKS
from tests.generate.conftest import SUMS, Total


@pytest.fixture(autouse=True)
def known_task(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(TASKS, "total", Total)


def test_three_lines_solve_a_problem(adder: Path) -> None:
    solver = pencil.load(adder)
    solution = solver.solve("1 2 3")
    assert solution.answer == "6"


def test_a_solution_tells_its_text_and_its_cost(adder: Path) -> None:
    solution = pencil.load(adder).solve((1, 2, 3))
    trace = Total(3).trace((1, 2, 3))
    assert solution.text == "= 6 <|endoftext|>"
    assert (solution.stopped.reason, solution.stopped.reductions) == ("end", 3)
    assert (solution.stopped.generated, solution.stopped.peak) == (len(trace.generated), trace.stats().peak)


def test_many_problems_at_once(adder: Path) -> None:
    seen = []
    solutions = pencil.load(adder).solve_many(SUMS, progress=lambda index, event: seen.append((index, event)))
    assert [solution.answer for solution in solutions] == [str(sum(numbers)) for numbers in SUMS]
    assert {index for index, _ in seen} == {0, 1, 2, 3}


def test_a_stream_shows_thoughts_as_they_come_and_go(adder: Path) -> None:
    solver = pencil.load(adder)
    events = list(solver.stream("1 1 1"))
    words = solver.vocab.decode([event.id for event in events if isinstance(event, Token)])
    assert tuple(words) == Total(3).trace((1, 1, 1)).generated
    assert sum(isinstance(event, Reduced) for event in events) == 3
    assert isinstance(events[-1], Stopped)


def test_without_an_end_there_is_no_answer(adder: Path) -> None:
    solution = pencil.load(adder, limits=Limits(tokens=2)).solve("1 2 3")
    assert (solution.answer, solution.stopped.reason) == (None, "tokens")


def test_a_chain_of_thought_model_erases_nothing(adder: Path) -> None:
    checkpoint = read(adder)
    checkpoint.format = "cot"
    assert Solver(checkpoint, limits=Limits(tokens=20)).solve("1 2 3").stopped.reductions == 0


def test_bad_problems_and_bad_settings_are_said_so(adder: Path) -> None:
    with pytest.raises(ParseError, match="expected digits"):
        pencil.load(adder).solve("one two")
    with pytest.raises(ConfigError, match="rows is 0"):
        pencil.load(adder, rows=0)


def test_a_checkpoint_of_an_unknown_task_is_said_so(adder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(TASKS, "total")
    with pytest.raises(CheckpointError, match=r"checkpoint: found no task 'total', expected one of sat"):
        pencil.load(adder)


def test_a_checkpoint_with_other_words_than_its_task_is_said_so(adder: Path, tmp_path: Path) -> None:
    save(read(adder), tmp_path / "other")
    words = json.loads((tmp_path / "other" / "vocab.json").read_text())
    (tmp_path / "other" / "vocab.json").write_text(json.dumps([*words[:-1], "equals"]))
    with pytest.raises(CheckpointError, match="other: found other words in the checkpoint than those of total"):
        pencil.load(tmp_path / "other")


def test_weights_in_half_precision_answer_the_same(adder: Path, tmp_path: Path) -> None:
    save(read(adder), tmp_path / "half", half=True)
    solutions = pencil.load(tmp_path / "half").solve_many(SUMS)
    assert [solution.answer for solution in solutions] == [str(sum(numbers)) for numbers in SUMS]
    assert torch.get_default_dtype() == torch.float32
