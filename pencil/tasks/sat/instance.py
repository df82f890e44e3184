"""A formula in conjunctive normal form."""

from dataclasses import dataclass
from itertools import chain

from pencil.tasks.logic import Clause


@dataclass(frozen=True)
class Formula:
    """A conjunction of clauses, kept as written: literals may repeat, and clauses may be empty or tautologies."""

    clauses: tuple[Clause, ...]

    @property
    def variables(self) -> int:
        """The largest variable that occurs, or 0."""
        return max(map(abs, chain.from_iterable(self.clauses)), default=0)
