from random import Random

import pytest

from pencil.errors import ParseError
from pencil.tasks.einstein import Clue, Puzzle, Relation
from pencil.tasks.einstein.formats import MAX_CLUES, parse, puzzle_text
from pencil.tasks.einstein.generate import sample
from tests.tasks.einstein.puzzles import RIDDLE, any_clue

BRIT_RED = Clue("Brit", Relation.SAME, "Red")
SWEDE_DOGS = Clue("Swede", Relation.SAME, "Dogs")


@pytest.mark.parametrize("size", [3, 4, 5])
def test_what_is_written_is_read_back(size: int) -> None:
    for seed in range(20):
        sampled = sample(size, Random(seed))
        puzzle = Puzzle(size, (*sampled.clues, any_clue(size, Random(seed))))
        assert parse(puzzle_text(puzzle)) == puzzle
        assert parse(f"<|startoftext|> {puzzle_text(puzzle)} <|endofprompt|>") == puzzle


@pytest.mark.parametrize(
    "text",
    [
        "The Brit lives in the red house. The Swede keeps dogs.",
        "The Brit lives in the red house\nThe Swede keeps dogs\n\nWho owns the fish?",
        "1. The Brit lives in the red house. 2. The Swede keeps dogs. Who keeps the fish",
        "1) The Brit lives in the red house\r\n2) The Swede keeps dogs\r\n",
        "- The Brit lives in the red house;\n- The Swede keeps dogs.",
        "• The Brit lives in the red house!\n• The Swede keeps dogs!",
        "Clue 1: the Brit lives in the red house\nClue 2: the Swede keeps dogs",
        "Clues:\n(1) The Brit lives in the red house.\n(2) The Swede keeps dogs.",
        "Hints: The Brit lives in the red house. The Swede keeps dogs.",
        "There are three houses, each in a different color. The Brit lives in the red house. Swede keeps dogs.",
    ],
)
def test_numbers_bullets_introductions_and_the_question_are_skipped(text: str) -> None:
    assert parse(text) == Puzzle(3, (BRIT_RED, SWEDE_DOGS))


def test_the_riddle_has_five_houses_and_fifteen_clues() -> None:
    puzzle = parse(RIDDLE)
    assert puzzle.size == 5
    assert len(puzzle.clues) == 15
    assert puzzle.clues[7:9] == (
        Clue("Milk", Relation.POSITION, "House#3"),
        Clue("Norwegian", Relation.POSITION, "House#1"),
    )


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("The Brit lives in the red house.", 3),
        ("The Brit drinks tea.", 4),
        ("The Dane keeps fish.", 4),
        ("The Norwegian keeps fish.", 5),
        ("The Brit smokes Prince.", 5),
        ("The Brit lives in the fourth house.", 4),
        ("There are 5 houses. The Brit lives in the red house.", 5),
        ("There are four colorful houses. The Brit lives in the red house.", 4),
    ],
)
def test_the_size_is_stated_or_the_smallest_that_fits(text: str, size: int) -> None:
    assert parse(text).size == size


def test_the_last_house_depends_on_the_size() -> None:
    assert parse("The Dane lives in the last house.").clues[0].second == "House#4"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "puzzle: found 0 clues"),
        ("There are five houses. Who owns the fish?", "puzzle: found 0 clues"),
        ("The Brit lives in the red house. " * (MAX_CLUES + 1), f"puzzle: found {MAX_CLUES + 1} clues"),
        ("The Brit lives in the red house.\nThe Spaniard owns the zebra.", "clue 2: found 'spaniard'"),
        ("Constraint#1 : the Brit is in House#1\n Constraint#2 :", "clue 2: found nothing"),
        ("Constraint#1 : the Brit is in House#1\n Constraint#2 : the Green house is", "clue 2: found 'the Green house"),
        ("There are three houses. The Brit drinks tea.", "clue 1: found 'Tea'"),
        ("There are six houses. The Brit drinks tea.", "introduction: found 'six houses'"),
        ("The Dane lives in the middle house.", "clue 1: found 'middle house'"),
        ("The Brit lives in the red house. Who drinks water?", "question: found 'Who drinks water?'"),
        ("The Brit keeps dogs <|endofprompt|> the purple thing is here", "clue 1: found '<'"),
        ("The Swede keeps fish. The purple house is different from the pink house.", "clue 2: found 'purple'"),
        ("The Spaniard and the Ukrainian own neighbouring houses. The Swede keeps fish.", "clue 1: found 'spaniard'"),
        ("The Swede keeps fish. The zebra owner lives between two people with foxes.", "clue 2: found 'zebra'"),
        ("What the fish owner drinks is tea. The Swede keeps dogs.", "clue 1: found 'what'"),
        ("\x00\x01", "clue 1: found '\\x00'"),
    ],
)
def test_errors_name_the_place(text: str, complaint: str) -> None:
    with pytest.raises(ParseError) as caught:
        parse(text)
    assert complaint in str(caught.value)
    assert "\n" not in str(caught.value)
