"""The task: what `pencil` needs to pose a quantified formula and to write its trace."""

from collections.abc import Sequence
from random import Random

from pencil.tasks.base import Task
from pencil.tasks.hints import LAYERS, Hint
from pencil.tasks.logic import LOGIC_WORDS, stated_answer
from pencil.tasks.qbf import formats, generate, reason
from pencil.tasks.qbf.hints import literal_values
from pencil.tasks.qbf.instance import EXISTS, FORALL, QuantifiedFormula
from pencil.trace import TraceWriter


class Qbf(Task[QuantifiedFormula]):
    """Is a quantified Boolean formula over `size` variables true?

    >>> task = Qbf(2)
    >>> task.solve(task.parse("∀ 1 ∃ 2 : #1 ( 1 ∨ 2 ) #2 ( ¬ 1 ∨ ¬ 2 )"))
    'True'
    """

    name = "qbf"
    sizes = range(2, 17)
    default_size = 4

    @property
    def words(self) -> tuple[str, ...]:
        """Words of every size first, then size by size, so that a word has the same id at any size."""
        words = [*LOGIC_WORDS, FORALL, EXISTS, ":", "prefix_from", "evaluate", "Check", "Formula"]
        labels = 0
        for size in range(1, self.size + 1):
            words.append(str(size))
            words += [f"#{number}" for number in range(labels, generate.most_clauses(size) + 1)]
            labels = generate.most_clauses(size) + 1
        return tuple(words)

    def sample(self, rng: Random) -> QuantifiedFormula:
        """A random formula, valid or a literal away from being so."""
        return generate.sample(self.size, rng)

    def question(self, instance: QuantifiedFormula) -> Sequence[str]:
        """The prefix, and the clauses numbered from 1."""
        return tuple(formats.prompt_words(instance))

    def reason(self, instance: QuantifiedFormula, write: TraceWriter) -> None:
        """Try values in prefix order."""
        reason.solve(instance, write)

    def hints(self, words: Sequence[str], layers: int = LAYERS) -> Sequence[Hint]:
        """The value of each literal that is checked: a learner finds out late how to look one up."""
        return literal_values(words)

    def answer(self, response: Sequence[str]) -> str | None:
        """`True` or `False`."""
        return stated_answer(response)

    def size_of(self, instance: QuantifiedFormula) -> int:
        """Its variables."""
        return instance.variables

    def oddity(self, instance: QuantifiedFormula) -> str | None:
        """Variables that are not bound, more or fewer clauses than are sampled, or but one kind of quantifier."""
        variables, clauses = instance.variables, len(instance.clauses)
        fewest, most = generate.fewest_clauses(variables), generate.most_clauses(variables)
        if len(instance.prefix) < variables:
            return f"variables up to {variables}, but only {len(instance.prefix)} of them"
        if len({quantifier for quantifier, _ in instance.prefix}) < 2:
            return "only one kind of quantifier"
        return None if fewest <= clauses <= most else f"{clauses} clauses, not {fewest} to {most}"

    def parse(self, text: str) -> QuantifiedFormula:
        """A formula from the paper's prompt or from QDIMACS."""
        return formats.parse(text)
