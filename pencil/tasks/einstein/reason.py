"""The reasoner: propagate the clues once, sum up by tail recursion, then branch (paper, section 3.2)."""

from contextlib import nullcontext

from pencil.tasks.einstein.instance import NATIONALITIES, Puzzle, constraint, house
from pencil.tasks.einstein.propagate import apply_clue, is_satisfied
from pencil.tasks.einstein.state import Layout, State
from pencil.tokens import split
from pencil.trace import TraceWriter

NO_SOLUTION = ("No", "Solution")


class Reasoner:
    """Writes the trace of one puzzle; without tail recursion a call keeps all it wrote until it returns."""

    def __init__(self, puzzle: Puzzle, write: TraceWriter, tail_recursion: bool = True) -> None:
        self.layout = Layout.of(puzzle.size)
        self.clues = puzzle.clues
        self.write = write
        self.tail_recursion = tail_recursion

    def reason(self, state: State | None = None) -> None:
        """Think the whole puzzle through, up to who owns the Fish; from a state, with what it leaves open."""
        state = State(self.layout) if state is None else state
        unsatisfied = [index for index, clue in enumerate(self.clues) if not is_satisfied(clue, state)]
        solution = self._solve(state, unsatisfied)
        if solution is None:
            return
        at = solution.pinned("Fish")
        assert at is not None
        owner = next(value for value in NATIONALITIES[: self.layout.size] if solution.pinned(value) == at)
        self.write("\n", *split(f"=> {house(at)} owns the Fish\n => the {owner} owns the Fish"))

    def _say(self, line: str) -> None:
        self.write.words.extend(line.split(" "))
        self.write.words.append("\n")

    def _solve(self, state: State, unsatisfied: list[int]) -> State | None:
        """One call: the solution that these possibilities still allow, if any."""
        with self.write.call():
            self._list_state("Possible Assignments", state, unsatisfied)
            self.write("\n")
            solution = self._search(state, unsatisfied)
            self.write.answer(*(NO_SOLUTION if solution is None else ("Solution", *solution.words()[:-1])))
        return solution

    def _search(self, state: State, unsatisfied: list[int]) -> State | None:
        """Propagate, then branch; with nothing to branch on, clues not yet seen to hold get their turn again."""
        if self._is_solved(state, unsatisfied):
            return state
        while self._propagate(state, unsatisfied):
            self._sum_up(state, unsatisfied)
            if self._is_solved(state, unsatisfied):
                return state
            cell = state.smallest_open_cell()
            if cell is not None:
                return self._branch(*cell, state, unsatisfied)
            if not unsatisfied:  # two houses share a value
                break
        return None

    def _is_solved(self, state: State, unsatisfied: list[int]) -> bool:
        solved = not unsatisfied and state.is_assigned()
        self._say("=> Puzzle is solved" if solved else "=> Puzzle not solved yet")
        return solved

    def _propagate(self, state: State, unsatisfied: list[int]) -> bool:
        """Apply each unsatisfied clue once, and drop those that hold; whether every cell keeps a possibility."""
        self._say("====== Propagation ======")
        for index in list(unsatisfied):
            self.write("Applying", constraint(index))
            with self.write.call():
                self.write("\n")
                changes = apply_clue(self.clues[index], state, self._say)
                self.write.answer(*split("\n".join(changes)))
            self.write("\n")
            if state.is_impossible():
                return False
            if is_satisfied(self.clues[index], state):
                unsatisfied.remove(index)
                self._say(f"Remove {constraint(index)} because it is satisfied")
        return True

    def _sum_up(self, state: State, unsatisfied: list[int]) -> None:
        """What is possible now, in place of all that led to it."""
        with self.write.tail_call() if self.tail_recursion else nullcontext():
            self._list_state("Possible Assignments After Propagation", state, unsatisfied)
        self.write("\n")

    def _branch(self, at: int, category: int, state: State, unsatisfied: list[int]) -> State | None:
        """Try the possibilities of a cell in order, each in a call of its own."""
        cell = f"{house(at)} {self.layout.categories[category].name} category"
        mask = state.cells[category][at]
        self._say("====== Branch ======")
        self._say(f"Branching on {cell} with {self.layout.possibilities(category, mask)}")
        for value in self.layout.values(category, mask):
            if state.pinned(value) is not None:  # taken by another house
                continue
            self._say(f"Trying possibility {value} in {cell}")
            attempt = state.copy()
            attempt.put(value, at)
            solution = self._solve(attempt, list(unsatisfied))
            self.write("\n")
            if solution is not None:
                return solution
        return None

    def _list_state(self, title: str, state: State, unsatisfied: list[int]) -> None:
        """All houses and the clues not yet satisfied, without a newline at the end."""
        self._say(f"====== {title} ======")
        self.write.extend(state.words())
        self.write("Unsatisfied", "constraints", "are", *map(constraint, unsatisfied))
