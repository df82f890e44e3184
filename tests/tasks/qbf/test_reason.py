import shutil
import subprocess
from random import Random

import pytest
import z3
from hypothesis import given, settings
from hypothesis import strategies as st

from pencil.tasks.qbf import Bound, Qbf, QuantifiedFormula
from pencil.tasks.qbf.formats import from_prompt, to_qdimacs
from pencil.tasks.qbf.generate import is_valid
from pencil.tasks.qbf.instance import EXISTS
from pencil.tokens import join
from pencil.trace import Trace, TraceWriter
from tests.tasks.listings import listing


@st.composite
def odd_formulas(draw: st.DrawFn) -> QuantifiedFormula:
    """Any prefix, also with gaps or none at all, and any clauses over it, also empty ones."""
    variables = draw(st.lists(st.integers(1, 7), unique=True, max_size=5))
    prefix = tuple(Bound(draw(st.sampled_from(("∀", "∃"))), variable) for variable in variables)
    literals = st.sampled_from([sign * variable for variable in variables for sign in (1, -1)] or [0])
    clauses = st.lists(st.lists(literals, max_size=4 if variables else 0).map(tuple), max_size=8)
    return QuantifiedFormula(prefix, tuple(draw(clauses)))


def valid_by_z3(formula: QuantifiedFormula) -> bool:
    def literal(number: int) -> z3.BoolRef:
        variable = z3.Bool(abs(number))
        return variable if number > 0 else z3.Not(variable)

    closed = z3.And([z3.Or([literal(number) for number in clause]) for clause in formula.clauses])
    for quantifier, variable in reversed(formula.prefix):
        closed = (z3.Exists if quantifier == EXISTS else z3.ForAll)([z3.Bool(variable)], closed)
    solver = z3.Solver()
    solver.add(closed)
    return bool(solver.check() == z3.sat)


def valid_by_depqbf(formula: QuantifiedFormula) -> bool:
    run = subprocess.run(["depqbf"], input=to_qdimacs(formula), text=True, capture_output=True, check=False)
    assert run.returncode in (10, 20), run.stderr
    return run.returncode == 10


def printed() -> Trace[str]:
    task = Qbf(4)
    return task.trace(task.parse(listing("qbf_cot_prompt")))


def written(text: str) -> str:
    """What the reasoner writes for a formula."""
    write = TraceWriter()
    Qbf().reason(from_prompt(text), write)
    return join(write.words)


def test_the_printed_chain_of_thought() -> None:
    assert join(printed().prompt) == listing("qbf_cot_prompt")
    assert join(printed().generated) == listing("qbf_cot_response")


def test_the_printed_response() -> None:
    assert join(printed().prompt) == listing("qbf_pencil_prompt")
    assert join(printed().final) == listing("qbf_pencil_response") == listing("qbf_final")


@pytest.mark.parametrize("number", range(1, 26))
def test_the_printed_generations_and_reductions(number: int) -> None:
    trace = printed()
    steps = list(trace.steps())
    assert len(steps) == 26
    step = steps[number - 1]
    assert join(step.before.tokens[len(trace.prompt) :]) == listing(f"qbf_generation_{number:02d}")
    assert join(step.after[len(trace.prompt) :]) == listing(f"qbf_reduction_{number:02d}")


@pytest.mark.parametrize(
    ("text", "trace"),
    [
        (":", "[CALL] Question: evaluate Formula = True [SEP] Answer: True [RETURN]"),
        (": #1 ( )", "[CALL] Question: evaluate Check #0 ( ) False [SEP] Answer: False [RETURN]"),
        (
            "∃ 2 :",
            "[CALL] Question: prefix_from ∃ 2 Try 2 = False [CALL] Question: evaluate 2 = False"
            " Formula = True [SEP] Answer: True [RETURN] [SEP] Answer: True [RETURN]",
        ),
        (
            "∀ 2 : #1 ( 2 )",
            "[CALL] Question: prefix_from ∀ 2 Try 2 = False [CALL] Question: evaluate 2 = False"
            " Check #0 ( 2 ) False [SEP] Answer: False [RETURN] [SEP] Answer: False [RETURN]",
        ),
    ],
)
def test_formulas_that_the_paper_does_not_print(text: str, trace: str) -> None:
    assert written(text) == trace


@given(odd_formulas())
@settings(deadline=None)
def test_any_formula_is_answered_as_z3_does(formula: QuantifiedFormula) -> None:
    assert Qbf().solve(formula) == str(valid_by_z3(formula)) == str(is_valid(formula))


@pytest.mark.parametrize("size", [2, 3, 5, 8])
def test_sampled_formulas_are_answered_as_z3_does(size: int) -> None:
    task, rng = Qbf(size), Random(size)
    for _ in range(40):
        formula = task.sample(rng)
        assert task.solve(formula) == str(valid_by_z3(formula)) == str(is_valid(formula))


@pytest.mark.skipif(shutil.which("depqbf") is None, reason="depqbf is not installed")
@pytest.mark.parametrize("size", [2, 4, 7, 10])
def test_sampled_formulas_are_answered_as_depqbf_does(size: int) -> None:
    task, rng = Qbf(size), Random(size)
    for _ in range(40):
        formula = task.sample(rng)
        assert task.solve(formula) == str(valid_by_depqbf(formula))
