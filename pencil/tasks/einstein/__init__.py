"""Einstein's puzzle, solved by propagation and branching (paper, section 3.2 and appendix "Einstein's Puzzle")."""

from pencil.tasks.einstein.instance import Clue, Puzzle, Relation
from pencil.tasks.einstein.task import Einstein

__all__ = ["Clue", "Einstein", "Puzzle", "Relation"]
