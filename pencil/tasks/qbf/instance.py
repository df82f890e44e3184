"""A quantified Boolean formula in prenex conjunctive normal form."""

from dataclasses import dataclass
from typing import Literal, NamedTuple

from pencil.errors import PencilError
from pencil.tasks.logic import Clause

Quantifier = Literal["∀", "∃"]
FORALL: Quantifier = "∀"
EXISTS: Quantifier = "∃"


class Bound(NamedTuple):
    """A variable and the quantifier that binds it."""

    quantifier: Quantifier
    variable: int


@dataclass(frozen=True)
class QuantifiedFormula:
    """A prefix, outermost quantifier first, and a conjunction of clauses over its variables."""

    prefix: tuple[Bound, ...]
    clauses: tuple[Clause, ...]

    @property
    def variables(self) -> int:
        """The largest variable that is bound, or 0."""
        return max((variable for _, variable in self.prefix), default=0)

    def __post_init__(self) -> None:
        bound = {variable for _, variable in self.prefix}
        if len(bound) < len(self.prefix):
            raise PencilError("the prefix binds a variable twice; bind each one once")
        for number, clause in enumerate(self.clauses, start=1):
            if not bound.issuperset(map(abs, clause)):
                raise PencilError(f"clause {number} is {clause}, which holds a variable that the prefix does not bind")
