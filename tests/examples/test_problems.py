from pathlib import Path

import pytest

from pencil.tasks import get_task
from pencil.tasks.base import read_text
from pencil.tasks.recognise import recognise
from pencil.train.split import is_held_out

EXAMPLES = Path(__file__).parent.parent.parent / "examples"


@pytest.mark.parametrize(
    ("file", "name", "size", "answer"),
    [
        ("formula.cnf", "sat", 10, "False"),
        ("game.qdimacs", "qbf", 10, "False"),
        ("four.txt", "einstein", 4, "Dane"),
        ("houses.txt", "einstein", 5, "Norwegian"),
    ],
)
def test_a_problem_to_try_is_like_those_trained_on_but_not_among_them(
    file: str, name: str, size: int, answer: str
) -> None:
    assert recognise(read_text(EXAMPLES / file)) == name
    task = get_task(name, size)
    instance = task.read(EXAMPLES / file)
    assert (task.size_of(instance), task.oddity(instance)) == (size, None)
    assert is_held_out(task.prompt(instance))
    assert task.solve(instance) == answer
