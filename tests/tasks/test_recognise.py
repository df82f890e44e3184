import pytest

from pencil.errors import ParseError
from pencil.tasks import TASKS, get_task
from pencil.tasks.qbf.formats import to_qdimacs
from pencil.tasks.recognise import recognise
from pencil.tasks.sat.formats import to_dimacs
from pencil.tokens import join


@pytest.mark.parametrize("name", TASKS)
@pytest.mark.parametrize("index", range(5))
def test_every_prompt_is_recognised(name: str, index: int) -> None:
    task = get_task(name)
    instance = task.draw(0, index)
    assert recognise(join(task.prompt(instance))) == name
    assert recognise(join(task.question(instance))) == name


def test_files_are_recognised() -> None:
    sat, qbf = get_task("sat"), get_task("qbf")
    assert recognise("c The Brit lives in the red house\n\n" + to_dimacs(sat.draw(0))) == "sat"
    assert recognise("c a 1 0\n" + to_dimacs(sat.draw(0))) == "sat"
    assert recognise(to_qdimacs(qbf.draw(0))) == "qbf"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("1 -2 0\n2 0", "sat"),
        ("e 1 0\n1 0", "qbf"),
        ("p something", "sat"),
        ("x1 or x2", "sat"),
        ("(1|~x2) & (3)", "sat"),
        ("forall 1 exists 2: (1 or 2)", "qbf"),
        ("( 1 ∨ banana )", "sat"),
        ("1. The Brit lives in the red house.\n2. The Swede keeps dogs.", "einstein"),
        ("There exists a street with 3 houses (or so). The Brit is not home. Who owns the fish?", "einstein"),
    ],
)
def test_what_people_type_goes_to_the_reader_that_can_say_what_is_wrong(text: str, name: str) -> None:
    assert recognise(text) == name


@pytest.mark.parametrize("text", ["", "  \n", "hello there", "42?", "∨"])
def test_anything_else_is_an_error_that_says_what_is_expected(text: str) -> None:
    with pytest.raises(ParseError, match="expected a DIMACS or QDIMACS file, a formula"):
        recognise(text)
