from itertools import count

import pytest

from pencil.tasks import get_task

TASK = get_task("qbf", 4)


@pytest.mark.parametrize("index", range(5))
def test_a_checked_clause_is_false_where_no_literal_is_true(index: int) -> None:
    trace = TASK.trace(TASK.draw(0, index))
    words, hints = trace.generated, TASK.hints(trace.generated)
    checks = [place for place, word in enumerate(words) if word == "Check"]
    assert checks
    for check in checks:
        end = next(place for place in count(check) if words[place] == ")")
        literals = [hint["True"] for hint in hints[check : end + 1] if hint]
        assert len(literals) == sum(word.isdigit() for word in words[check : end + 1])
        assert words[end + 1] == str(any(literals))


def test_nothing_else_is_hinted_at() -> None:
    trace = TASK.trace(TASK.draw(0))
    for word, hint in zip(trace.generated, TASK.hints(trace.generated), strict=True):
        assert not hint or word in ("∨", ")")


def test_most_tasks_have_no_hints() -> None:
    assert get_task("sat").hints(["(", "1", ")"]) == [{}, {}, {}]
