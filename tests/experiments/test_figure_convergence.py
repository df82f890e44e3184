import pytest

from experiments.figure_convergence import attention_flops, first_best
from pencil.model.checkpoint import Checkpoint
from pencil.model.transformer import ModelConfig, Transformer
from pencil.tasks import get_task


@pytest.mark.parametrize("format", ["pencil", "cot"])
def test_flops_count_every_pair_of_a_query_and_a_key(format: str) -> None:
    task = get_task("qbf", 3)
    model = Transformer(ModelConfig(len(task.vocab), n_layers=2, d_model=16, n_heads=2, context=64))
    trace = task.trace(task.draw(0, 0))
    if format == "cot":
        pairs = sum(range(len(trace.prompt) + 1, len(trace) + 1))  # a token attends to itself and to all before it
    else:
        pairs = trace.stats().cost_pencil // 2
    flops = attention_flops(Checkpoint(model, task.vocab, "qbf", (3,), format), instances=1)
    assert flops == 3 * 2 * 2 * 16 * 2 * pairs  # forward and backward, score and mixture, multiply and add


def test_the_first_of_equally_good_looks_counts() -> None:
    points = [{"step": step, "accuracy": accuracy} for step, accuracy in ((1, 0.2), (2, 0.9), (3, 0.9), (4, 0.5))]
    assert first_best(points)["step"] == 2
