from dataclasses import replace

import pytest

from pencil.errors import PencilError
from pencil.evaluate.apart import Rows, run_apart, usual_processes
from pencil.generate.limits import Limits
from pencil.model.transformer import ModelConfig, Transformer
from pencil.tasks import get_task

TASK = get_task("qbf", 2)
MODEL = Transformer(ModelConfig(len(TASK.vocab), n_layers=2, d_model=16, n_heads=2, context=64), seed=1)


def rows(count: int) -> Rows:
    prompts = [TASK.vocab.encode(TASK.prompt(TASK.draw(0, index))) for index in range(count)]
    limits = [Limits(tokens=5 + index) for index in range(count)]
    return Rows(prompts, limits, TASK.vocab.marks, TASK.vocab.end, at_once=4)


def test_rows_dealt_out_are_all_there_and_say_the_same() -> None:
    asked, done = rows(7), list[int]()
    here, dealt = asked.run(MODEL, lambda done: None), run_apart(asked, MODEL, done.append, processes=3)
    assert [said for _, said in dealt] == [said for _, said in here]
    assert [replace(stop, seconds=0.0) for stop, _ in dealt] == [replace(stop, seconds=0.0) for stop, _ in here]
    assert done == list(range(1, 8))


def test_each_hand_gets_its_share_of_the_places() -> None:
    parts = rows(7).dealt(3)
    assert [len(part.prompts) for part in parts] == [3, 2, 2]
    assert [part.at_once for part in parts] == [2, 2, 2]
    assert len(rows(2).dealt(3)) == 2


def test_a_process_that_dies_is_told() -> None:
    asked = rows(2)
    beyond = replace(asked, prompts=[[len(TASK.vocab)], *asked.prompts[1:]])  # a token that the model does not know
    with pytest.raises(PencilError, match="a process of the evaluation ended early"):
        run_apart(beyond, MODEL, lambda done: None, processes=2)


def test_few_rows_are_not_worth_a_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.get_num_threads", lambda: 4)
    assert [usual_processes(count) for count in (1, 31, 32, 100)] == [1, 1, 2, 4]
