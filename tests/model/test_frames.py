from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from pencil.model.frames import MARKS, find_seen, sees
from pencil.model.transformer import ModelConfig, Transformer

CALL, RETURN = MARKS.call, MARKS.ret
CONFIG = ModelConfig(vocab_size=11, n_layers=2, d_model=32, n_heads=4, context=50)


@pytest.mark.parametrize(
    ("frames", "starts"),
    [(0, [0, 0, 0, 0, 0, 0, 0]), (1, [0, 1, 1, 3, 3, 5, 5]), (2, [0, 0, 0, 1, 1, 3, 3]), (3, [0, 0, 0, 0, 0, 1, 1])],
)
def test_what_is_seen_starts_with_a_call(frames: int, starts: list[int]) -> None:
    assert [seen.start for seen in find_seen([9, CALL, 7, CALL, 8, CALL, 6], frames)] == starts


def test_a_call_that_returned_belongs_to_the_frame_around_it() -> None:
    returned = find_seen([9, CALL, 7, CALL, 8, RETURN, 6, RETURN, 7], frames=1)
    assert [seen.start for seen in returned] == [0, 1, 1, 3, 3, 1, 1, 0, 0]
    assert [seen.start for seen in find_seen([RETURN, CALL, 8], frames=1)] == [0, 1, 1]  # it matches nothing


def test_the_outermost_frame_ends_with_the_first_open_call() -> None:
    tokens = [9, CALL, 8, RETURN, 7, CALL, 6, CALL, 8, CALL, 9]
    assert [seen.outer for seen in find_seen(tokens, 2, outermost=True)] == [0, 0, 0, 0, 0, 0, 0, 5, 5, 5, 5]
    seen = sees(torch.tensor(tokens), 2, outermost=True)
    assert seen[-1].int().tolist() == [1, 1, 1, 1, 1, 0, 0, 1, 1, 1, 1]


@given(st.lists(st.sampled_from([CALL, RETURN, 7, 8]), max_size=30), st.integers(0, 3), st.booleans())
def test_the_last_tokens_see_what_they_do_in_the_whole_sequence(
    tokens: list[int], frames: int, outermost: bool
) -> None:
    for since in range(len(tokens) + 1):
        assert find_seen(tokens, frames, outermost, since) == find_seen(tokens, frames, outermost)[since:]


def test_each_sequence_has_frames_of_its_own() -> None:
    tokens = torch.tensor([[9, CALL, 7], [9, 8, CALL]])
    assert sees(tokens, 1).int().tolist() == [
        [[1, 0, 0], [0, 1, 0], [0, 1, 1]],
        [[1, 0, 0], [1, 1, 0], [0, 0, 1]],
    ]


def test_sequences_side_by_side_are_read_as_one_by_one() -> None:
    model = Transformer(replace(CONFIG, frames=1))
    tokens = torch.tensor([[9, CALL, 7, CALL, 8], [9, 8, CALL, 6, RETURN]])
    torch.testing.assert_close(model(tokens), torch.stack([model(row) for row in tokens]))


def test_a_word_depends_on_its_frames_alone() -> None:
    tokens = torch.tensor([9, 8, CALL, 7, CALL, 6, 7])
    changed = torch.tensor([8, 8, CALL, 7, CALL, 6, 7])
    for frames, outermost, alike in ((0, False, 0), (1, False, 5), (2, False, 3), (1, True, 0)):
        config = replace(CONFIG, n_layers=1, frames=frames, outermost=outermost)  # a second layer reads what others saw
        model = Transformer(config)
        same = torch.isclose(model(tokens), model(changed), atol=1e-6).all(-1)
        assert same.tolist() == [False] * (7 - alike) + [True] * alike
