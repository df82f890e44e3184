"""The task: what `pencil` needs to pose a formula and to write its trace."""

from collections.abc import Sequence
from random import Random

from pencil.tasks.base import Task
from pencil.tasks.logic import LOGIC_WORDS, stated_answer
from pencil.tasks.sat import formats, generate, reason
from pencil.tasks.sat.instance import Formula
from pencil.trace import TraceWriter


class Sat(Task[Formula]):
    """Is a 3-SAT formula over `size` variables satisfiable?

    >>> task = Sat(3)
    >>> task.solve(task.parse("( 1 ∨ 2 ) ∧ ( ¬ 1 ) ∧ ( ¬ 2 )"))
    'False'
    """

    name = "sat"
    sizes = range(3, 51)
    default_size = 4

    @property
    def words(self) -> tuple[str, ...]:
        """Words of every size first, so that a word has the same id at any size."""
        return (*LOGIC_WORDS, "∧", "Found", "Let", *map(str, range(1, self.size + 1)))

    def sample(self, rng: Random) -> Formula:
        """A random formula at the paper's ratio."""
        return generate.sample(self.size, rng)

    def question(self, instance: Formula) -> Sequence[str]:
        """The clauses, joined by ∧."""
        return tuple(reason.conjunction_words(instance.clauses))

    def reason(self, instance: Formula, write: TraceWriter) -> None:
        """Search as DPLL does."""
        reason.solve(instance.clauses, write)

    def answer(self, response: Sequence[str]) -> str | None:
        """`True` or `False`."""
        return stated_answer(response)

    def parse(self, text: str) -> Formula:
        """A formula from the paper's prompt or from DIMACS."""
        return formats.parse(text)
