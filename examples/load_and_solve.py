"""Ask a trained checkpoint in three lines, then look at what the answer cost.

    python -m examples.load_and_solve runs/sat3 "( 1 ∨ ¬ 2 ∨ 3 ) ∧ ( ¬ 1 ∨ 2 ∨ 3 )"

prints the answer, True or False, and what it took: tokens said, the most held at once, thoughts erased.
"""

import sys

import pencil


def main(directory: str, problem: str) -> None:
    """Solve one problem, written in the task's wording or file format."""
    solver = pencil.load(directory)
    solution = solver.solve(problem)
    print(solution.answer)
    stopped = solution.stopped
    print(
        f"{stopped.reason} after {stopped.generated} tokens, never more than {stopped.peak} at once,"
        f" {stopped.reductions} thoughts erased"
    )


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(f"found {len(sys.argv) - 1} arguments, expected a directory and a problem")
    try:
        main(*sys.argv[1:])
    except pencil.PencilError as error:
        sys.exit(str(error))
