"""What to have in mind while a clause is checked: the value of the literal just said."""

from collections.abc import Sequence

from pencil.tasks.hints import Hint

HALFWAY = 6


def literal_values(words: Sequence[str]) -> list[Hint]:
    """After each literal of a clause that is checked, whether it is true.

    >>> words = "evaluate 1 = False 2 = True Check #0 ( 1 ∨ ¬ 2 ) False".split()
    >>> [(words[hint.place], hint.mind) for hint in literal_values(words)]
    [('1', {'True': False}), ('2', {'True': False})]
    """
    hints = []
    values: dict[str, bool] = {}
    for place, (before, word, after) in enumerate(zip(words, words[1:], words[2:], strict=False), 1):
        if word == "=":
            values[before] = after == "True"
        elif word in values and after in ("∨", ")"):
            hints.append(Hint(place, HALFWAY, {"True": values[word] != (before == "¬")}))
    return hints
