from pathlib import Path

import pytest

from pencil import get_task
from pencil.cli import demo
from pencil.cli.thinker import load_thinker
from pencil.model.pretrained import Bundled
from tests.cli.conftest import RunPencil


@pytest.mark.usefixtures("nothing_shipped")
@pytest.mark.parametrize("name", ["sat", "qbf", "einstein"])
def test_without_a_model_the_reasoner_thinks(pencil: RunPencil, name: str) -> None:
    shown = pencil("demo", "--task", name, "--size", 3).out
    task = get_task(name, 3)
    trace = task.trace(task.draw(0))
    stats = trace.stats()
    assert "no model ships for it, so the reasoner thinks" in shown
    row = [cell.strip() for cell in shown.splitlines()[-2].strip("│").split("│")]
    sizes = [f"{size:,}" for size in (len(trace.generated), stats.peak, stats.tokens)]
    assert row == [f"{name} 3", *sizes, "", task.answer(trace.final), "yes"]


@pytest.mark.usefixtures("shipped")
def test_a_model_that_ships_thinks_itself(pencil: RunPencil, monkeypatch: pytest.MonkeyPatch) -> None:
    formula = get_task("sat").parse("( 1 ∨ 2 ) ∧ ( ¬ 1 )")
    monkeypatch.setattr(demo, "_held_out", lambda task, seed: formula)
    shown = pencil("demo", "--task", "sat").out
    assert "sat, size 3: a transformer with 0.1M parameters thinks" in shown
    task, thought, peak, chain, seconds, answer, verified = shown.splitlines()[-2].strip("│").split("│")
    trace = get_task("sat").trace(formula)
    assert (int(thought), int(peak), int(chain)) == (len(trace.generated), trace.stats().peak, len(trace))
    assert float(seconds) < 60
    assert (task.strip(), answer.strip(), verified.strip()) == ("sat 3", "True", "yes")


@pytest.mark.usefixtures("shipped")
def test_a_model_that_fails_is_said_so(pencil: RunPencil, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo, "_held_out", lambda task, seed: get_task("sat").parse("( 2 )"))
    row = pencil("demo", "--task", "sat").out.splitlines()[-2].split("│")
    assert [cell.strip() for cell in row[-3:-1]] == ["False", "no"]


@pytest.mark.parametrize(
    ("accuracies", "size"),
    [
        ({"puzzles": {3: 1.0, 4: 0.96, 5: 0.6}}, 4),
        ({"small": {3: 0.99}, "large": {4: 0.57}}, 3),
        ({"small": {3: 0.1}, "large": {4: 0.2}}, 4),
        ({}, get_task("einstein").size),
    ],
)
def test_the_largest_size_is_shown_that_a_model_is_mostly_right_about(
    accuracies: dict[str, dict[int, float]], size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    reports = {name: [{"size": s, "accuracy": a} for s, a in sizes.items()] for name, sizes in accuracies.items()}
    models = [
        Bundled(Path(name), "einstein", tuple(accuracies[name]), {"evaluation": reports[name]}) for name in reports
    ]
    monkeypatch.setattr(demo, "bundled", lambda: [Bundled(Path(), "sat", (9,), {}), *models])
    assert demo._largest_mastered("einstein") == size


@pytest.mark.usefixtures("shipped")
def test_a_model_that_is_lost_is_stopped(pencil: RunPencil, monkeypatch: pytest.MonkeyPatch) -> None:
    formula = get_task("sat").parse("( 1 ∨ 2 ) ∧ ( ¬ 1 )")
    monkeypatch.setattr(demo, "_held_out", lambda task, seed: formula)
    monkeypatch.setattr(demo, "load_thinker", lambda directory, tokens: load_thinker(directory, tokens // 4))
    row = pencil("demo", "--task", "sat").out.splitlines()[-2].split("│")
    assert [cell.strip() for cell in row[-3:-1]] == ["none", "no"]


@pytest.mark.usefixtures("shipped")
def test_a_size_that_no_model_was_trained_on_is_left_to_the_reasoner(pencil: RunPencil) -> None:
    assert "no model ships for it" in pencil("demo", "--task", "sat", "--size", 4).out


@pytest.mark.usefixtures("nothing_shipped")
def test_every_task_has_its_turn(pencil: RunPencil) -> None:
    shown = pencil("demo", "--size", 3).out
    assert [line[2:].split(" ")[0] for line in shown.splitlines()[-4:-1]] == ["sat", "qbf", "einstein"]


def test_problems_are_not_too_long_and_not_trained_on(monkeypatch: pytest.MonkeyPatch) -> None:
    from pencil.train.split import is_held_out

    task = get_task("qbf", 3)
    monkeypatch.setattr(demo, "LONGEST", 400)
    chosen = demo._held_out(task, seed=0)
    assert len(task.trace(chosen)) <= 400
    assert is_held_out(task.prompt(chosen))


def test_an_unknown_task_is_one_line(pencil: RunPencil) -> None:
    assert "found no task 'chess'" in pencil("demo", "--task", "chess").err
