"""A formula in conjunctive normal form."""

from dataclasses import dataclass

from pencil.tasks.logic import Clause, largest_variable


@dataclass(frozen=True)
class Formula:
    """A conjunction of clauses, kept as written: literals may repeat, and clauses may be empty or tautologies."""

    clauses: tuple[Clause, ...]

    @property
    def variables(self) -> int:
        """The largest variable that occurs."""
        return largest_variable(self.clauses)
