"""The task: what `pencil` needs to pose a formula and to write its trace."""

from collections.abc import Sequence
from random import Random

from pencil.tasks.base import Task
from pencil.tasks.hints import LAYERS, Hint
from pencil.tasks.logic import LOGIC_WORDS, stated_answer
from pencil.tasks.sat import formats, generate, reason
from pencil.tasks.sat.hints import copying
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

    def hints(self, words: Sequence[str], layers: int = LAYERS) -> Sequence[Hint]:
        """Where to look: a learner finds out late where a long formula goes on."""
        return copying(words, layers)

    @property
    def names(self) -> tuple[str, ...]:
        """The variables."""
        return tuple(map(str, range(1, self.size + 1)))

    def unsettled(self, words: Sequence[str]) -> list[int]:
        """The variable to try, which is the smallest."""
        return [place for place in range(1, len(words)) if words[place - 1] == "Try"]

    def answer(self, response: Sequence[str]) -> str | None:
        """`True` or `False`."""
        return stated_answer(response)

    def size_of(self, instance: Formula) -> int:
        """Its variables."""
        return instance.variables

    def oddity(self, instance: Formula) -> str | None:
        """Clauses that are not of three variables, or more or fewer than the paper's ratio asks for."""
        if any(len({abs(literal) for literal in clause}) != 3 or len(clause) != 3 for clause in instance.clauses):
            return "clauses that are not of three different variables"
        usual, found = generate.clause_count(instance.variables), len(instance.clauses)
        return None if found == usual else f"{found} clauses, not {usual}"

    def parse(self, text: str) -> Formula:
        """A formula from the paper's prompt or from DIMACS."""
        return formats.parse(text)
