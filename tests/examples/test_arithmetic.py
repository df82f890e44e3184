import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

from examples.arithmetic import Arithmetic
from pencil import ParseError
from pencil.tokens import join


def test_the_papers_opening_idea() -> None:
    task = Arithmetic()
    trace = task.trace(task.parse("( 3 + 4 ) * ( 2 + 5 )"))
    assert join(trace.generated) == (
        "[CALL] [CALL] 3 + 4 [SEP] 7 [RETURN] * [CALL] 2 + 5 [SEP] 7 [RETURN] [SEP] 4 9 [RETURN] <|endoftext|>"
    )
    assert task.answer(trace.final) == "49"


@pytest.mark.parametrize("size", Arithmetic.sizes)
def test_the_reasoner_agrees_with_python(size: int) -> None:
    task = Arithmetic(size)
    for index in range(50):
        instance = task.draw(seed=1, index=index)
        assert task.solve(instance) == str(eval("".join(task.question(instance))))
        assert task.parse(join(task.prompt(instance))) == instance
        task.vocab.encode(task.trace(instance).generated)


def test_the_size_is_the_depth() -> None:
    assert Arithmetic(3).trace(Arithmetic(3).sample(Random(0))).stats().depth == 3


def test_the_example_stays_short() -> None:
    assert len(Path("examples/arithmetic.py").read_text().splitlines()) < 80


@pytest.mark.parametrize("text", ["", "3 +", "3 / 4", "x", "( 3", "3.5 + 1", "not a sum", "True + 2", "0x1f + 1"])
def test_bad_text_is_one_clear_error(text: str) -> None:
    with pytest.raises(ParseError, match="expected numbers and"):
        Arithmetic().parse(text)


def test_the_example_runs() -> None:
    command = [sys.executable, "-m", "examples.arithmetic", "( 3 + 4 ) * ( 2 + 5 )"]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert shown.splitlines()[-1].endswith("<|endofprompt|> 4 9 <|endoftext|>")
