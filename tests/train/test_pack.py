from collections.abc import Sequence

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from pencil.errors import TraceError
from pencil.generate.engine import Engine
from pencil.generate.events import Event, Reduced, Token
from pencil.generate.limits import Limits
from pencil.model.frames import MARKS as MODEL_MARKS
from pencil.model.frames import find_seen
from pencil.rule import Context
from pencil.tokens import Marks
from pencil.trace import Trace, attention_cost
from pencil.train.pack import Packed, join, pack
from tests.train.examples import MARKS, all_traces, task_trace

TRACES = all_traces()


def packed_of(trace: Trace[int]) -> Packed:
    return pack(trace.prompt, trace.generated, trace.marks)


@pytest.fixture(params=TRACES)
def trace(request: pytest.FixtureRequest) -> Trace[int]:
    return TRACES[request.param]


def test_each_target_is_predicted_from_the_live_sequence(trace: Trace[int]) -> None:
    packed = packed_of(trace)
    assert packed.targets.tolist() == list(trace.generated)
    context = Context(trace.prompt, trace.marks)
    sees = packed.sees()
    for index, token in zip(packed.inputs, trace.generated, strict=True):
        assert packed.ids[sees[index]].tolist() == list(context)
        assert packed.positions[sees[index]].tolist() == list(range(len(context)))
        context.append(token)


def test_every_packed_token_sees_a_whole_sequence_that_it_ends(trace: Trace[int]) -> None:
    packed = packed_of(trace)
    for index, seen in enumerate(packed.sees()):
        assert packed.positions[seen].tolist() == list(range(packed.positions[index] + 1))


def test_contexts_equal_those_of_replay(trace: Trace[int]) -> None:
    packed, sees = packed_of(trace), packed_of(trace).sees()
    predicted = 0
    for step in trace.steps():
        predicted += len(step.before.generated)
        last_input = packed.inputs[predicted - 1]
        assert packed.ids[sees[last_input]].tolist() == step.before.tokens[:-1]
        assert packed.targets[predicted - 1] == step.before.tokens[-1]


class Replay:
    """A model and its decoder that say a trace word for word, and note all that is live at each token they read."""

    context = 2**20
    vocab_size = 256

    def __init__(self, trace: Trace[int]) -> None:
        self.script, self.said = trace.generated, 0
        self.live: list[int] = []
        self.read: list[list[int]] = []
        self.reads_again = False

    def __call__(self, tokens: Tensor) -> Tensor:
        raise AssertionError("the engine decodes with a cache")

    def decoder(self) -> "Replay":
        return self

    def feed(self, rows: Sequence[int], tokens: Sequence[Sequence[int]]) -> Tensor:
        for token in tokens[0]:
            self.live.append(token)
            if not self.reads_again:
                self.read.append(list(self.live))
            self.reads_again = False
        return torch.eye(256)[[self.script[self.said]]]

    def rewind(self, row: int, length: int) -> None:
        del self.live[length:]

    def drop(self, row: int) -> None:
        self.live.clear()

    def watch(self, row: int, event: Event) -> None:
        self.said += isinstance(event, Token)
        if isinstance(event, Reduced) and not event.reduction.answer:
            self.reads_again = True  # the last token that is kept, since its logits are needed once more


def test_the_engine_reads_the_packed_tokens_at_their_positions_and_in_their_contexts(trace: Trace[int]) -> None:
    replay = Replay(trace)
    engine = Engine(replay, trace.marks, limits=Limits(tokens=len(trace.generated)))
    engine.run([list(trace.prompt)], replay.watch)
    assert replay.said == len(trace.generated)
    packed = packed_of(trace)
    assert [packed.ids[seen].tolist() for seen in packed.sees()] == replay.read
    assert (packed.positions + 1).tolist() == [len(live) for live in replay.read]


def test_packed_length_is_the_trace_once_and_each_answer_again(trace: Trace[int]) -> None:
    answers = [step.reduction.answer for step in trace.steps() if step.reduction]
    trailing = len(answers[-1]) if list(trace.steps())[-1].reduction else 1  # written after the last target's input
    returns = len(answers)
    assert len(packed_of(trace)) == len(trace) - returns + sum(map(len, answers)) - trailing


def test_multiply_count_is_the_flops_equation_and_the_prompts_own_part(trace: Trace[int]) -> None:
    """The equation counts each x^(i) up to its last token, which the packed form predicts but does not read."""
    ended_with_answer = list(trace.steps())[-1].reduction
    never_read = sum(2 * len(step.before.tokens) for step in trace.steps())
    if ended_with_answer:
        never_read += attention_cost(ended_with_answer.kept, ended_with_answer.kept + len(ended_with_answer.answer))
    pairs = int(packed_of(trace).sees().sum())
    assert 2 * pairs == trace.stats().cost_pencil + attention_cost(0, len(trace.prompt)) - never_read


SAID = st.lists(st.sampled_from([*vars(MODEL_MARKS).values(), 7, 8]), min_size=1, max_size=40)


@given(SAID, st.integers(1, 3), st.booleans())
def test_frames_are_those_of_the_live_sequence(generated: list[int], frames: int, outermost: bool) -> None:
    for marks in (MODEL_MARKS, None):
        near, far = pack([9, 8], generated, marks, None, frames, outermost), pack([9, 8], generated, marks)
        for seen, live in zip(near.seen.tolist(), far.sees(), strict=True):
            assert tuple(seen) == find_seen(far.ids[live].tolist(), frames, outermost)[-1]
        for some in (near, near.within(6)):
            assert (some.sees().diagonal() & (some.seen[:, 1] <= some.positions)).all()
        assert (near.sees().sum(1) == near.seen_counts + 1).all()


def test_without_marks_nothing_is_erased() -> None:
    trace = TRACES["nested calls"]
    packed = pack(trace.prompt, trace.generated, None)
    assert packed.ids.tolist() == [*trace.prompt, *trace.generated[:-1]]
    assert packed.sees().tolist() == np.tri(len(packed), dtype=bool).tolist()


def test_a_window_cuts_every_iteration() -> None:
    trace = task_trace("qbf", 3)
    window = trace.stats().peak - 20
    packed = packed_of(trace).within(window)
    assert packed.positions.max() == window - 1
    predicted = [segment.tokens[segment.start : window + 1] for segment in trace.segments()]
    assert packed.targets.tolist() == [token for tokens in predicted for token in tokens]
    assert packed.sees().sum(1).tolist() == (packed.positions + 1).tolist()


def test_a_wide_window_changes_nothing() -> None:
    packed = packed_of(TRACES["one call"])
    assert packed.within(100) is packed


def test_joined_traces_do_not_see_each_other() -> None:
    parts = [packed_of(TRACES[name]) for name in ("one call", "no reduction", "an empty answer")]
    sees = join(parts).sees()
    for number, part in enumerate(parts):
        start = sum(map(len, parts[:number]))
        inside = slice(start, start + len(part))
        assert (sees[inside, inside] == part.sees()).all()
        assert sees[inside].sum() == part.sees().sum()


@pytest.mark.parametrize(("prompt", "generated"), [([], [5]), ([0, 1], [2, 5])])
def test_a_trace_that_leaves_nothing_to_predict_from_is_an_error(prompt: list[int], generated: list[int]) -> None:
    with pytest.raises(TraceError, match="nothing is left to predict token"):
        pack(prompt, generated, MARKS)


def test_marks_may_be_any_ids() -> None:
    trace = TRACES["nested calls"]
    shifted = pack([t + 10 for t in trace.prompt], [t + 10 for t in trace.generated], Marks(10, 11, 12))
    assert (shifted.ids - 10).tolist() == packed_of(trace).ids.tolist()
    assert shifted.ends.tolist() == packed_of(trace).ends.tolist()
