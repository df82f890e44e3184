from itertools import count

import pytest

from pencil.tasks import get_task

TASK = get_task("qbf", 4)


@pytest.mark.parametrize("index", range(5))
def test_a_checked_clause_is_false_where_no_literal_is_true(index: int) -> None:
    words = TASK.trace(TASK.draw(0, index)).generated
    truth = {hint.place: hint.mind["True"] for hint in TASK.hints(words)}
    checks = [place for place, word in enumerate(words) if word == "Check"]
    assert checks
    for check in checks:
        end = next(place for place in count(check) if words[place] == ")")
        literals = [truth.pop(place) for place in range(check, end) if words[place].isdigit()]
        assert words[end + 1] == str(any(literals))
    assert not truth  # nothing else is hinted at
