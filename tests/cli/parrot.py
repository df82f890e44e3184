"""A small model that knows four formulas by heart, one of them with a wrong answer."""

from pathlib import Path

from pencil.model.checkpoint import Checkpoint, save
from pencil.model.transformer import ModelConfig, Transformer
from pencil.tasks import get_task
from pencil.trace import Trace
from tests.generate.conftest import memorise

RIGHT = {"( 1 ∨ 2 ) ∧ ( ¬ 1 )": "True", "( 1 ) ∧ ( ¬ 1 )": "False"}
WRONG = "( 2 )"
SPEECHLESS = "( 3 )"


def save_parrot(directory: Path) -> None:
    """Train it in a second or two, and write a checkpoint."""
    task = get_task("sat", 3)
    traces = [task.trace(task.parse(text)) for text in (*RIGHT, WRONG, SPEECHLESS)]
    right, (wrong, speechless) = traces[:-2], traces[-2:]
    wrong = Trace(wrong.prompt, tuple("False" if word == "True" else word for word in wrong.generated))
    speechless = Trace(speechless.prompt, speechless.generated[-1:])
    encode = task.vocab.encode
    lessons = [(encode(trace.prompt), encode(trace.generated)) for trace in (*right, wrong, speechless)]
    model = Transformer(ModelConfig(len(task.vocab), n_layers=2, d_model=64, n_heads=2, context=96))
    memorise(model, lessons, task.vocab.marks)
    save(Checkpoint(model, task.vocab, "sat", (3,)), directory)
