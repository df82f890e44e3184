"""What a task may tell a learner beside the trace: what to have in mind after a word, and where to look then."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

DEPTHS = 12
"""A depth counts in twelfths of a model's layers."""
LAYERS = 6
"""How many a model has unless it is said; with more, hints may come in smaller steps."""


@dataclass(frozen=True)
class Hint:
    """How a good thinker's mind stands after a word, when it is part of the way through its layers."""

    place: int
    """The word, by its index among the words of the prompt and the trace."""
    depth: int
    """How far: 6 is halfway."""
    mind: Mapping[str, bool] = field(default_factory=dict)
    """Words in mind there, and words that should not be."""
    looks: Mapping[int, Sequence[int]] = field(default_factory=dict)
    """For some heads of the layer that ends there: the words to look at, each by its index."""
