import subprocess
import sys
from pathlib import Path

import pytest

from examples.load_and_solve import main
from pencil.model.checkpoint import Checkpoint, save
from pencil.model.transformer import ModelConfig, Transformer
from pencil.tasks import get_task


def test_it_prints_the_answer_and_its_cost(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    vocab = get_task("sat", 3).vocab
    untrained = Transformer(ModelConfig(len(vocab), n_layers=1, d_model=16, n_heads=2, context=64))
    save(Checkpoint(untrained, vocab, "sat", (3,)), tmp_path / "run")
    main(str(tmp_path / "run"), "( 1 ∨ ¬ 2 ∨ 3 ) ∧ ( ¬ 1 ∨ 2 ∨ 3 )")
    answer, cost = capsys.readouterr().out.splitlines()
    assert answer == "None"
    assert cost.startswith(("repetition after", "context after"))


@pytest.mark.parametrize(
    ("arguments", "complaint"), [(["here"], "found 1 arguments"), (["nowhere", "( 1 )"], "found no directory nowhere")]
)
def test_bad_input_is_one_line(arguments: list[str], complaint: str) -> None:
    command = [sys.executable, "-m", "examples.load_and_solve", *arguments]
    found = subprocess.run(command, capture_output=True, text=True)
    assert found.returncode == 1
    assert found.stderr.startswith(complaint)
    assert found.stderr.count("\n") == 1
