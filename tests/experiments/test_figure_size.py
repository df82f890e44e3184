from typing import Any

import pytest

from experiments.figure_size import accuracy, lengths_of, table, trained_at

RESULT: dict[str, Any] = {
    "cells": [
        {"model": "2x64", "format": format, "context": context, "trained_at": at}
        for format, at in (("cot", 0), ("pencil", 1_024))
        for context in (512, 1_024, 2_048)
    ],
    "models": {"size-2x64-pencil-1024": {"parameters": 110_000, "reports": [{"accuracy": 0.75}]}},
}


@pytest.mark.parametrize(
    ("lengths", "expected"),
    [([600], [0, 1_024, 1_024]), ([300, 700], [512, 1_024, 1_024]), ([900, 3_000], [0, 1_024, 2_048])],
)
def test_only_contexts_that_matter_are_trained_for(lengths: list[int], expected: list[int]) -> None:
    assert [trained_at(context, lengths) for context in (512, 1_024, 2_048)] == expected


def test_a_context_that_holds_nothing_solves_nothing() -> None:
    assert accuracy(RESULT, "cot", "2x64", 512) == 0
    assert accuracy(RESULT, "pencil", "2x64", 2_048) == 75
    assert table(RESULT)[-1] == ["PENCIL, 2x64, 0.11M parameters: ours", "75", "75", "75"]


def test_pencil_needs_less_than_a_chain_of_thought() -> None:
    held, said = (lengths_of(format, 3, seed=0) for format in ("pencil", "cot"))
    assert all(peak < tokens for peak, tokens in zip(held, said, strict=True))
