from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pysat.solvers import Solver

from pencil.tasks.logic import MAX_VARIABLES
from pencil.tasks.sat import Formula, Sat
from pencil.tasks.sat.formats import from_prompt
from pencil.tokens import END, join, split
from pencil.trace import Trace, TraceWriter
from tests.tasks.listings import listing

literals = st.integers(-5, 5).filter(bool)
odd_formulas = st.lists(st.lists(literals, max_size=5).map(tuple), max_size=12).map(tuple).map(Formula)


def printed_process() -> Trace[str]:
    """The trace of the instance whose internal process the paper prints: the formula of its first question."""
    words = split(listing("sat_generation_01"))
    task = Sat(4)
    return task.trace(from_prompt(join(words[words.index("Question:") + 1 : words.index("Try")])))


def satisfiable_by_cadical(formula: Formula) -> bool:
    with Solver("cadical195") as solver:
        for clause in formula.clauses:
            solver.add_clause(list(clause))
        return () not in formula.clauses and bool(solver.solve())


def written(text: str) -> str:
    """What the reasoner writes for a formula."""
    write = TraceWriter()
    Sat().reason(from_prompt(text), write)
    return join(write.words)


def test_the_printed_chain_of_thought() -> None:
    task = Sat(4)
    formula = task.parse(listing("sat_cot_prompt"))
    trace = task.trace(formula)
    assert join(trace.prompt) == listing("sat_cot_prompt")
    assert join(trace.generated) == listing("sat_cot_response")


def test_the_printed_response() -> None:
    task = Sat(4)
    trace = task.trace(task.parse(listing("sat_pencil_prompt")))
    assert join(trace.prompt) == listing("sat_pencil_prompt")
    assert join(trace.final) == listing("sat_pencil_response")


@pytest.mark.parametrize("number", range(1, 6))
def test_the_printed_generations_and_reductions(number: int) -> None:
    trace = printed_process()
    step = list(trace.steps())[number - 1]
    assert join(step.before.tokens[len(trace.prompt) :]) == listing(f"sat_generation_{number:02d}")
    assert join(step.after[len(trace.prompt) :]) == listing(f"sat_reduction_{number:02d}")


def test_the_printed_process_ends_with_its_final_response() -> None:
    trace = printed_process()
    assert len(list(trace.steps())) == 6
    assert join(trace.final) == listing("sat_final")


@pytest.mark.parametrize(
    ("text", "trace"),
    [
        ("<|startoftext|> <|endofprompt|>", "[CALL] Question: [SEP] Answer: True [RETURN]"),
        ("( )", "[CALL] Question: ( ) [SEP] Answer: False [RETURN]"),
        ("( 2 )", "[CALL] Question: ( 2 ) Found 2 Let 2 = True [SEP] Answer: True [RETURN]"),
        ("( 3 ∨ 1 )", "[CALL] Question: ( 3 ∨ 1 ) Try 1 = True [SEP] Answer: True [RETURN]"),
        ("( 1 ∨ ¬ 1 )", "[CALL] Question: ( 1 ∨ ¬ 1 ) Try 1 = True [SEP] Answer: True [RETURN]"),
        (
            "( ¬ 1 ∨ ¬ 1 )",
            "[CALL] Question: ( ¬ 1 ∨ ¬ 1 ) Try 1 = True Try 1 = False [SEP] Answer: True [RETURN]",
        ),
    ],
)
def test_formulas_that_the_paper_does_not_print(text: str, trace: str) -> None:
    assert written(text) == trace


def test_the_largest_formula_that_can_be_parsed_can_be_reasoned_out() -> None:
    chain = [(-variable, variable + 1) for variable in range(1, MAX_VARIABLES)]
    trace = Sat().trace(Formula((*chain, (1,))))
    assert trace.stats().depth == MAX_VARIABLES
    assert trace.final == ["Answer:", "True", END]


@given(odd_formulas)
def test_any_formula_is_answered_as_cadical_does(formula: Formula) -> None:
    assert Sat().solve(formula) == str(satisfiable_by_cadical(formula))


@pytest.mark.parametrize("size", [3, 5, 8, 12, 16])
def test_sampled_formulas_are_answered_as_cadical_does(size: int) -> None:
    task, rng = Sat(size), Random(size)
    for _ in range(40):
        formula = task.sample(rng)
        assert task.solve(formula) == str(satisfiable_by_cadical(formula))
