import numpy as np
import pytest

from pencil.errors import TraceError
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
