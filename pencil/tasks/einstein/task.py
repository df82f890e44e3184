"""The task: what `pencil` needs to pose a puzzle and to write its trace."""

from collections.abc import Iterator, Sequence
from random import Random

from pencil.tasks.base import Task
from pencil.tasks.einstein import formats, generate
from pencil.tasks.einstein.hints import hints
from pencil.tasks.einstein.instance import (
    NATIONALITIES,
    SIZES,
    Clue,
    Puzzle,
    Relation,
    categories,
    constraint,
    house,
)
from pencil.tasks.einstein.reason import NO_SOLUTION, Reasoner
from pencil.tasks.einstein.solve import Solver
from pencil.tasks.hints import LAYERS, Hint
from pencil.tokens import END, split
from pencil.trace import Trace, TraceWriter

COMMON_WORDS = split(
    "\n : the house is same as immediately to left right of next in one who"
    " ====== Possible Assignments After Propagation Branch category have possibilities"
    " Unsatisfied constraints are => Puzzle not solved yet"
    " Applying PHASE 1: 2: Single-value logic for and under constraint Handling relation SAME LEFT RIGHT NEXT POSITION"
    " Removing Forcing Placing Since since removing from because pinned another it can only appear here"
    " must be can't if it's leftmost rightmost exactly , this hold"
    " changed empty No changes Remove satisfied"
    " Branching on with Trying possibility Solution owns"
)
"""Words that every size uses, in the order in which a trace needs them."""


class Einstein(Task[Puzzle]):
    """Who owns the Fish, in a row of `size` houses?

    >>> task = Einstein()
    >>> task.solve(task.parse("The German lives to the left of the Brit. The Brit keeps fish."))
    'Brit'
    """

    name = "einstein"
    sizes = SIZES
    default_size = 3

    def __init__(self, size: int | None = None, *, tail_recursion: bool = True, minimal: bool = False) -> None:
        """Without tail recursion a call keeps what it wrote until it returns; a minimal puzzle has no spare clue."""
        super().__init__(size)
        self.tail_recursion = tail_recursion
        self.minimal = minimal

    @property
    def settings(self) -> dict[str, bool]:
        """Both of its options."""
        return {"tail_recursion": self.tail_recursion, "minimal": self.minimal}

    @property
    def words(self) -> tuple[str, ...]:
        """Words of every size first, then those of each size in turn, so that a word has the same id at any size."""
        return tuple(dict.fromkeys(_all_words(self.size)))

    def sample(self, rng: Random) -> Puzzle:
        """A random puzzle with one solution; every nationality and every house is as likely to own the Fish."""
        return generate.sample(self.size, rng, self.minimal)

    def question(self, instance: Puzzle) -> Sequence[str]:
        """The clues, one a line."""
        return tuple(split(formats.puzzle_text(instance)))

    def reason(self, instance: Puzzle, write: TraceWriter) -> None:
        """Propagate, sum up and branch."""
        Reasoner(instance, write, self.tail_recursion).reason()

    def rare_trace(self, instance: Puzzle, rng: Random) -> tuple[Trace[str], int]:
        """It is told what is possible, as if that had been found out."""
        write = TraceWriter()
        Reasoner(instance, write, self.tail_recursion).reason(generate.random_state(instance, rng))
        told = write.words.index("\n", write.words.index("Unsatisfied")) + 1
        return Trace(self.prompt(instance), (*write.words, END)), told

    def hints(self, words: Sequence[str], layers: int = LAYERS) -> Sequence[Hint]:
        """What is possible at each line, and where to look it up: no line says it all."""
        return hints(words, self.size, layers)

    def answer(self, response: Sequence[str]) -> str | None:
        """The nationality of the owner, or `No Solution`."""
        words = [word for word in response if word != END]
        if words == [*NO_SOLUTION]:
            return " ".join(NO_SOLUTION)
        match words[-6:]:
            case ["=>", "the", owner, "owns", "the", "Fish"] if owner in NATIONALITIES:
                return owner
        return None

    def check(self, instance: Puzzle, answer: str | None) -> bool:
        """Whether some solution to the clues has this owner, or whether there is none and the answer says so."""
        solver = Solver(instance.size, instance.clues)
        if answer in NATIONALITIES[: instance.size]:
            solver.add(Clue("Fish", Relation.SAME, answer))
            return next(solver.solutions(), None) is not None
        return answer == " ".join(NO_SOLUTION) and next(solver.solutions(), None) is None

    def remark(self, instance: Puzzle) -> str | None:
        """Whether the clues leave the owner open."""
        owners = [name for name in NATIONALITIES[: instance.size] if self.check(instance, name)]
        return None if len(owners) < 2 else f"the clues leave open who owns the Fish: {' or '.join(owners)}"

    def size_of(self, instance: Puzzle) -> int:
        """Its houses."""
        return instance.size

    def oddity(self, instance: Puzzle) -> str | None:
        """Relations that sampled clues do not use."""
        others = dict.fromkeys(clue.relation for clue in instance.clues if clue.relation not in generate.RELATIONS)
        return f"clues of the kind {' and '.join(others)}" if others else None

    def parse(self, text: str) -> Puzzle:
        """A puzzle from the paper's prompt or from clues in plain English; its size follows from the text."""
        return formats.parse(text)


def _all_words(largest: int) -> Iterator[str]:
    """The words of all sizes up to the largest, with repetitions."""
    yield from COMMON_WORDS
    yield from map(constraint, range(formats.MAX_CLUES))
    for size in range(SIZES[0], largest + 1):
        yield from map(str, range(size + 1))
        yield from map(house, range(size))
        for category in categories(size):
            yield from split(" ".join((category.name, category.phrase.format(""), *category.values)))
