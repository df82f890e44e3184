"""What to have in mind while a clause is checked: the value of the literal just said."""

from collections.abc import Mapping, Sequence


def literal_values(words: Sequence[str]) -> list[Mapping[str, bool]]:
    """For each word of a trace: where it follows a literal of a clause, whether that literal is true.

    >>> words = "evaluate 1 = False 2 = True Check #0 ( 1 ∨ ¬ 2 ) False".split()
    >>> [(words[place - 1], hint) for place, hint in enumerate(literal_values(words)) if hint]
    [('1', {'True': False}), ('2', {'True': False})]
    """
    hints: list[Mapping[str, bool]] = [{}] * len(words)
    values: dict[str, bool] = {}
    for place, (before, word, after) in enumerate(zip(words, words[1:], words[2:], strict=False), 2):
        if word == "=":
            values[before] = after == "True"
        elif word in values and after in ("∨", ")"):
            hints[place] = {"True": values[word] != (before == "¬")}
    return hints
