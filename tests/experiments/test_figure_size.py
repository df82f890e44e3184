from typing import Any

from experiments.figure_size import accuracy, table

RESULT: dict[str, Any] = {
    "sizes": ["2x64"],
    "models": {
        "size-2x64-cot": {
            "parameters": 110_000,
            "reports": [{"count": 4, "each": [[True, 1, 900], [True, 1, 3_000], [True, 1, 2_000], [False, 1, 9]]}],
        },
        "size-2x64-pencil": {
            "parameters": 110_000,
            "reports": [{"count": 4, "each": [[True, 1, 500], [True, 1, 512], [True, 1, 700], [False, 1, 9]]}],
        },
    },
}


def test_what_was_longer_than_a_context_is_not_right() -> None:
    assert [accuracy(RESULT, "pencil", "2x64", context) for context in (499, 500, 512, 1_024)] == [0, 25, 50, 75]


def test_a_line_of_the_table_is_a_model() -> None:
    assert table(RESULT)[1:] == [
        ["CoT, 2x64, 0.11M parameters: ours", "0", "25", "50", "75"],
        ["PENCIL, 2x64, 0.11M parameters: ours", "50", "75", "75", "75"],
    ]
