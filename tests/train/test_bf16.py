import pytest
import torch

from pencil.model.transformer import ModelConfig, Transformer
from pencil.train.batch import make_batch
from pencil.train.bf16 import NATIVE, has_bf16, in_bf16
from pencil.train.loss import PackedLoss
from pencil.train.pack import pack
from tests.train.examples import task_trace


@pytest.mark.parametrize("name", NATIVE)
def test_a_cpu_that_has_any_of_the_instructions_has_bf16(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    known = dict.fromkeys(NATIVE, False)
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: known, raising=False)
    assert not has_bf16()
    known[name] = True
    assert has_bf16()


def test_nothing_that_was_cast_is_kept_for_another_hand() -> None:
    weight = torch.ones(2, 2, requires_grad=True)
    with in_bf16("cpu"):
        casts = [(torch.ones(1, 2) @ weight).grad_fn for _ in range(2)]
    parts = [part for cast in casts if cast is not None for part, _ in cast.next_functions if part is not None]
    assert len(parts) == len(set(parts)) == 2


@pytest.mark.parametrize("recent", [0, 2])
def test_gradients_of_many_tokens_are_about_those_in_float32(recent: int) -> None:
    traces = [task_trace("qbf", 3, index) for index in range(6)]
    batch = make_batch([pack(trace.prompt, trace.generated, trace.marks) for trace in traces])
    assert max(torch.from_numpy(batch.ids).bincount()) > 256  # where ones added up in bfloat16 stay
    model = Transformer(ModelConfig(64, n_layers=2, d_model=16, n_heads=2, recent=recent), seed=3)
    weights, found = list(model.parameters()), []
    for context in (torch.autocast("cpu", enabled=False), in_bf16("cpu")):
        with context:
            loss = PackedLoss(model)(batch).total
        found.append(torch.autograd.grad(loss, weights))
    for exact, rounded in zip(*found, strict=True):
        assert (exact - rounded).norm() < 0.05 * exact.norm()
