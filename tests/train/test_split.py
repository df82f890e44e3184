from random import Random

import pytest

from pencil.errors import PencilError
from pencil.tasks import get_task
from pencil.tasks.qbf import Qbf, QuantifiedFormula
from pencil.train.split import HELD_OUT, draw, is_held_out


class Few(Qbf):
    """Has only forty instances, so that each is drawn again and again."""

    def sample(self, rng: Random) -> QuantifiedFormula:
        return super().sample(Random(rng.randrange(40)))


def test_training_and_held_out_prompts_never_meet() -> None:
    task, rng = Few(2), Random(0)
    trained = {task.prompt(draw(task, rng, held_out=False)) for _ in range(500)}
    held_out = {task.prompt(draw(task, rng, held_out=True)) for _ in range(100)}
    assert len(trained) + len(held_out) == 40
    assert not trained & held_out


def test_one_prompt_in_so_many_is_held_out() -> None:
    task = get_task("sat", 3)
    share = sum(is_held_out(task.prompt(task.draw(1, index))) for index in range(1000)) / 1000
    assert share == pytest.approx(1 / HELD_OUT, abs=0.03)


def test_a_task_with_one_prompt_cannot_be_split() -> None:
    class Single(Qbf):
        def sample(self, rng: Random) -> QuantifiedFormula:
            return QuantifiedFormula((), ())

    task = Single(2)
    empty_side = not is_held_out(task.prompt(task.sample(Random(0))))
    with pytest.raises(PencilError, match="no prompt left"):
        draw(task, Random(0), held_out=empty_side)
