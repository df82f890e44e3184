from dataclasses import replace
from pathlib import Path

from pencil.evaluate.failures import describe, live_at, write_failures
from pencil.evaluate.metrics import Outcome

RIGHT = "[CALL] a [SEP] b [RETURN] c d <|endoftext|>".split()
WRONG = Outcome(
    prompt=("x", "y"),
    truth=tuple(RIGHT),
    generated=("[CALL]", "a", "[SEP]", "b", "[RETURN]", "c", "e", "<|endoftext|>"),
    expected="True",
    answer="False",
    stop="end",
    peak=6,
    reductions=1,
)


def test_a_failure_shows_what_the_model_saw_and_what_it_should_have_written() -> None:
    assert describe(WRONG) == (
        "wrong answer: expected True, found False\n"
        "\nprompt:\n  x y\n"
        "\nseen after 6 of 8 words:\n  x y b c\n"
        "\nthe model goes on:\n  e <|endoftext|>\n"
        "\nthe reasoner goes on:\n  d <|endoftext|>\n"
    )


def test_without_reductions_all_is_seen() -> None:
    assert live_at(replace(WRONG, reductions=0), 6) == ["x", "y", "[CALL]", "a", "[SEP]", "b", "[RETURN]", "c"]


def test_a_model_that_stops_early_goes_on_with_nothing() -> None:
    stopped = replace(WRONG, generated=WRONG.generated[:6], answer=None)
    assert "malformed: expected True, found no answer" in describe(stopped)
    assert "the model goes on:\n  (nothing)" in describe(stopped)


def test_long_texts_are_cut_and_wrapped() -> None:
    long = replace(WRONG, prompt=("word",) * 1000, generated=("e",) * 5000)
    lines = describe(long).splitlines()
    assert max(map(len, lines)) <= 100
    assert len(lines) < 100
    assert "  " + " ".join(["e"] * 49) in lines


def test_lines_of_a_prompt_stay_lines() -> None:
    assert "prompt:\n  one two\n  three\n" in describe(replace(WRONG, prompt=("one", "two", "\n", "three")))


def test_only_what_went_wrong_is_saved(tmp_path: Path) -> None:
    path = tmp_path / "failures.txt"
    outcomes = [replace(WRONG, answer="True"), *[WRONG] * 4]
    assert write_failures(path, outcomes, most=2) == 4
    text = path.read_text()
    assert text.startswith("4 of 5 instances went wrong.\n\n====")
    assert text.count("wrong answer: expected True, found False") == 2
    assert write_failures(path, outcomes[:1]) == 0
    assert path.read_text() == "0 of 1 instances went wrong.\n"
