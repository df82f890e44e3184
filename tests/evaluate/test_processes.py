import os
import signal
import threading
import time
from dataclasses import replace
from multiprocessing import active_children

import pytest

from pencil.errors import PencilError, VocabError
from pencil.evaluate import evaluate
from pencil.evaluate.processes import Rows, can_be_dealt_out, usual_processes
from pencil.generate.limits import Limits
from pencil.model.int8 import to_int8
from pencil.model.transformer import ModelConfig, Transformer
from pencil.tasks import get_task

TASK = get_task("qbf", 2)
MODEL = Transformer(ModelConfig(len(TASK.vocab), n_layers=2, d_model=16, n_heads=2, context=64), seed=1)


def rows(count: int, longer: int = 5) -> Rows:
    prompts = [TASK.vocab.encode(TASK.prompt(TASK.draw(0, index))) for index in range(count)]
    limits = [Limits(tokens=longer + index, overflow="truncate") for index in range(count)]
    return Rows(prompts, limits, TASK.vocab.marks, TASK.vocab.end, at_once=4)


def test_rows_dealt_out_are_all_there_and_say_the_same() -> None:
    asked, done = rows(7), list[int]()
    here = asked.run(MODEL, lambda done: None)
    dealt = asked.run_in_processes(MODEL, done.append, processes=3)
    assert [said for _, said in dealt] == [said for _, said in here]
    assert [replace(stop, seconds=0.0) for stop, _ in dealt] == [replace(stop, seconds=0.0) for stop, _ in here]
    assert done == list(range(1, 8))


def test_an_evaluation_in_processes_finds_the_same() -> None:
    done: list[int] = []
    (one, _), (two, _) = (
        evaluate(MODEL, TASK.vocab, TASK, count=4, progress=done.append, processes=processes) for processes in (1, 2)
    )
    assert replace(one, seconds=0.0) == replace(two, seconds=0.0)
    assert done == [1, 2, 3, 4] * 2


def test_each_process_gets_its_share_of_the_places() -> None:
    parts = rows(7).dealt(3)
    assert [len(part.prompts) for part in parts] == [3, 2, 2]
    assert [part.at_once for part in parts] == [2, 1, 1]
    assert len(rows(2).dealt(3)) == 2
    assert len(replace(rows(7), at_once=1).dealt(3)) == 1


def test_what_goes_wrong_in_a_process_is_told() -> None:
    asked = rows(2)
    beyond = replace(asked, prompts=[[len(TASK.vocab)], *asked.prompts[1:]])
    with pytest.raises(VocabError, match="found the token"):
        beyond.run_in_processes(MODEL, lambda done: None, processes=2)


def test_a_process_that_is_killed_is_told_and_leaves_none_behind() -> None:
    def kill_the_first() -> None:
        while not (workers := active_children()):
            time.sleep(0.1)
        workers[0].kill()

    threading.Thread(target=kill_the_first, daemon=True).start()
    with pytest.raises(PencilError, match="a process of the evaluation was killed"):
        rows(2, longer=10**9).run_in_processes(MODEL, lambda done: None, processes=2)
    assert not active_children()


def test_processes_leave_signals_to_the_parent() -> None:
    def signal_all() -> None:
        for _ in range(40):
            for worker in active_children():
                os.kill(worker.pid or 0, signal.SIGINT)
                os.kill(worker.pid or 0, signal.SIGTERM)
            time.sleep(0.1)

    threading.Thread(target=signal_all, daemon=True).start()
    assert len(rows(2).run_in_processes(MODEL, lambda done: None, processes=2)) == 2


def test_only_a_transformer_on_a_cpu_is_dealt_out() -> None:
    assert can_be_dealt_out(MODEL)
    assert not can_be_dealt_out(to_int8(MODEL))


def test_few_rows_are_not_worth_a_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.get_num_threads", lambda: 4)
    assert [usual_processes(count) for count in (1, 31, 32, 100)] == [1, 1, 2, 4]
