"""Every example program against a plain Python function, through the interpreter and through compiled weights."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from examples.fasp import anbn, dyck, induction, majority, reverse
from pencil.theory.compiler import compile_program
from pencil.theory.decode import RunningDecoder
from pencil.theory.fasp import Program, interpret


def balanced(word: str) -> int:
    depth = 0
    for letter in word:
        depth += 1 if letter == "(" else -1
        if depth < 0:
            return 0
    return int(depth == 0)


def follows(word: str) -> str:
    earlier = word[:-1].rfind(word[-1])
    return "a" if earlier < 0 else word[earlier + 1]


def reversed_so_far(word: str) -> str:
    before, mark, written = word.partition("#")
    if not mark:
        return "#"
    wanted = len(before) - len(written)
    return (before + mark + written)[wanted - 1] if wanted > 0 else "."


def in_anbn(word: str) -> int:
    half = len(word) // 2
    return int(word == "a" * half + "b" * half)


CASES: list[tuple[Program, str, Callable[[str], Any]]] = [
    (dyck.PROGRAM, "balanced", balanced),
    (majority.PROGRAM, "a_leads", lambda word: int(word.count("a") > word.count("b"))),
    (majority.PROGRAM, "lead", lambda word: word.count("a") - word.count("b")),
    (anbn.PROGRAM, "accepted", in_anbn),
    (induction.PROGRAM, "predicted", follows),
    (reverse.PROGRAM, "result", reversed_so_far),
]


@pytest.mark.parametrize(("program", "name", "expected"), CASES)
@given(data=st.data())
@settings(max_examples=20, deadline=None)
def test_an_example_computes_what_it_says(
    program: Program, name: str, expected: Callable[[str], Any], data: st.DataObject
) -> None:
    word = data.draw(st.text(list(map(str, program.alphabet)), min_size=1, max_size=9))
    run = interpret(program, word)
    found: list[Any] = run[name].scalars() if run[name].array.shape[1] == 1 else run.next_tokens()
    assert found == [expected(word[:end]) for end in range(1, len(word) + 1)]


@pytest.mark.parametrize("program", [case[0] for case in CASES])
def test_an_example_compiles_to_the_same_function(program: Program) -> None:
    word = (list(program.alphabet) * 4)[:9]
    decoder = RunningDecoder(compile_program(program).weights)
    outputs = [decoder.outputs([program.alphabet.index(token)]) for token in word]
    assert outputs == interpret(program, word).result.tolist()


def test_reverse_copies_a_word_by_itself() -> None:
    decoder, alphabet = RunningDecoder(compile_program(reverse.PROGRAM).weights), reverse.ALPHABET
    written, unread = "", "abca#"
    while not written.endswith("."):
        unread = alphabet[decoder.next_token([alphabet.index(letter) for letter in unread])]
        written += unread
    assert written == "acba."
