import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from pencil.errors import TraceError
from pencil.model.transformer import ModelConfig, Transformer, causal
from pencil.tokens import Marks, Vocab
from pencil.train.batch import make_batch
from pencil.train.loss import Loss, PackedLoss
from pencil.train.pack import Hints, Packed, pack

HALFWAY = 6
MARKS = Marks(call=0, sep=1, ret=2)
CALL = Vocab(()).marks.call
"""As models know it."""


def tiny(n_layers: int = 4) -> Transformer:
    config = ModelConfig(vocab_size=20, n_layers=n_layers, d_model=16, n_heads=2, context=64)
    return Transformer(config, seed=3).double()


def loss_of(model: Transformer, *traces: Packed) -> Loss:
    loss: Loss = PackedLoss(model)(make_batch(traces, chunk=4))
    return loss


def learned_layers(model: Transformer, loss: Tensor) -> set[int]:
    loss.backward()  # type: ignore[no-untyped-call]
    return {layer for layer, block in enumerate(model.blocks) if any(p.grad is not None for p in block.parameters())}


def test_without_hints_there_is_no_loss_of_them() -> None:
    loss = loss_of(tiny(), pack([9, 8], [5, 6, 7], None))
    assert loss.hints == 0
    assert loss.objective == loss.total


def test_what_is_in_mind_is_learned_by_the_layers_before() -> None:
    model = tiny()
    hints = Hints.of([(2, HALFWAY, 4), (2, HALFWAY, -3)])  # after word 2, which is 5: token 3 in mind and 2 not
    loss = loss_of(model, pack([9, 8], [5, 6, 7], None, hints))
    assert loss.objective == loss.total + loss.hints
    half = model.logits(model.hidden(torch.tensor([[9, 8, 5]]), blocks=model.blocks[:2]))[0, -1]
    torch.testing.assert_close(loss.hints, F.softplus(-half[3]) + F.softplus(half[2]))
    assert learned_layers(model, loss.hints) == {0, 1}


def attention_share(model: Transformer, tokens: list[int], layer: int, head: int, named: list[int]) -> Tensor:
    """How much of its attention a head gives to the tokens named, from the last token of a sequence."""
    shares: dict[int, Tensor] = {}

    def overhear(at: int, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        scores = q[0, -1, head] @ k[0, :, head].T * q.shape[-1] ** -0.5
        shares[at] = scores.softmax(-1)[named].sum()
        return causal(at, q, k, v)

    model(torch.tensor([tokens]), attend=overhear)
    return shares[layer]


def test_a_head_learns_where_to_look() -> None:
    model = tiny()
    looks = [(3, HALFWAY, 1, 0), (3, HALFWAY, 1, 2)]
    loss = loss_of(model, pack([9, 8], [5, 6, 7], None, Hints.of(looks=looks)))
    torch.testing.assert_close(loss.hints, -attention_share(model, [9, 8, 5, 6], 1, 1, [0, 2]).log())
    assert learned_layers(model, loss.hints) == {0, 1}


def test_a_word_that_is_read_again_is_looked_at_where_it_is_now() -> None:
    model = tiny()
    # words: 0: 9, 1: [CALL], 2: 5, 3: [SEP], 4: 7, 5: [RETURN], 6: 8; after word 6 the model sees 9 7 8
    trace = pack([9], [0, 5, 1, 7, 2, 8, 6], MARKS, Hints.of(looks=[(6, HALFWAY, 0, 4)]))
    torch.testing.assert_close(loss_of(model, trace).hints, -attention_share(model, [9, 7, 8], 1, 0, [1]).log())


def test_traces_keep_their_hints_in_a_batch() -> None:
    hints = [
        Hints.of([(1, 4, 3)], [(2, HALFWAY, 0, 1)]),
        Hints.of(),
        Hints.of([(2, 10, -6)], [(2, HALFWAY, 0, 0), (2, 10, 1, 1)]),
    ]
    model, traces = tiny(), [pack([9, 3], [5, 6, 7], None, hint) for hint in hints]
    together = loss_of(model, *traces).hints
    torch.testing.assert_close(together, sum(loss_of(model, trace).hints for trace in traces))


def test_hints_within_the_prompt_and_after_the_last_word_are_dropped() -> None:
    hints = Hints.of([(0, HALFWAY, 4), (4, HALFWAY, 4)], [(0, HALFWAY, 0, 0), (4, HALFWAY, 0, 0)])
    packed = pack([9, 8], [5, 6, 7], None, hints)
    assert not len(packed.hints.mind)
    assert not len(packed.hints.looks)


def test_a_hint_cannot_look_at_a_later_word() -> None:
    with pytest.raises(TraceError, match="at word 2 looks at word 3, which comes later"):
        pack([9, 8], [5, 6, 7], None, Hints.of(looks=[(2, HALFWAY, 0, 3)]))


def test_a_hint_cannot_look_at_what_is_erased() -> None:
    # words: 0: 9, 1: [CALL], 2: 5, 3: [SEP], 4: 7, 5: [RETURN]; after word 5 the model sees 9 7
    with pytest.raises(TraceError, match="before target 5 looks at token 2, which is erased"):
        pack([9], [0, 5, 1, 7, 2, 8], MARKS, Hints.of(looks=[(5, HALFWAY, 0, 2)]))


def test_a_hint_cannot_look_at_a_frame_that_is_not_seen() -> None:
    generated = [CALL, 7, CALL, 8, 6]
    pack([9], generated, None, Hints.of(looks=[(4, HALFWAY, 0, 1)]), frames=2)
    with pytest.raises(TraceError, match="before target 4 looks at token 0, in a frame that is not seen there"):
        pack([9], generated, None, Hints.of(looks=[(4, HALFWAY, 0, 0)]), frames=2)
    some = pack([9], generated, None, Hints.of(looks=[(4, HALFWAY, 0, 0), (4, HALFWAY, 0, 1)]), frames=2)
    assert some.hints.looks.tolist() == [[4, HALFWAY, 0, 1]]


def test_a_window_drops_the_hints_beyond_it() -> None:
    hints = Hints.of([(2, HALFWAY, 4), (3, HALFWAY, 5)], [(2, HALFWAY, 0, 1), (3, HALFWAY, 0, 1)])
    packed = pack([9, 8], [5, 6, 7], None, hints).within(3)
    assert packed.hints.mind.tolist() == [[1, HALFWAY, 4]]
    assert packed.hints.looks.tolist() == [[1, HALFWAY, 0, 1]]


@pytest.mark.parametrize("n_layers", [1, 2, 3])
def test_small_models_take_the_hints_they_have_layers_and_heads_for(n_layers: int) -> None:
    hints = Hints.of([(2, 4, 3), (2, 10, 3)], [(2, HALFWAY, 0, 0), (2, HALFWAY, 7, 0)])
    loss = loss_of(tiny(n_layers), pack([9, 8], [5, 6, 7], None, hints))
    assert torch.isfinite(loss.hints)
