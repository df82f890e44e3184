from random import Random

import pytest

from pencil.theory.compiler import compile_program
from pencil.theory.decode.heads import Number
from pencil.theory.decode.plan import Plan
from pencil.theory.decode.sparse import ONE, Terms
from pencil.theory.decode.stages import Stages, function, vector_function
from pencil.theory.machines import random_machine
from pencil.theory.program import turing_program

STREAM: list[Number] = [2, 3, 5, 7, 11]


@pytest.mark.parametrize(
    ("terms", "expected"),
    [
        ({}, 0),
        ({ONE: 4}, 4),
        ({2: 1}, 5),
        ({2: 3, ONE: 1}, 16),
        ({3: 1, 1: -1}, 4),
        ({1: -1, 3: 1, ONE: 2}, 6),
        ({1: 2, 3: 3}, 27),
        ({0: 1, 1: 1, 2: -1}, 0),
        ({0: 1, 1: 2, 2: 3, 4: -1, ONE: 10}, 22),
    ],
)
def test_a_sparse_row_is_a_function(terms: Terms, expected: int) -> None:
    assert function(terms)(STREAM) == expected


def test_several_rows_are_one_function() -> None:
    assert vector_function([{1: 1}, {4: 1}])(STREAM) == (3, 11)
    assert vector_function([{1: 1}])(STREAM) == (3,)
    assert vector_function([{1: 1}, {ONE: 1}])(STREAM) == (3, 1)
    assert vector_function([{1: 2}, {4: 1}, {}])(STREAM) == (6, 11, 0)
    assert vector_function([])(STREAM) == ()


def test_a_prefix_needs_less_than_the_last_token() -> None:
    stages = Stages(Plan(compile_program(turing_program(random_machine(Random(1)))).weights))
    writes, prefix_writes = (
        sum([len(stage.writes) for stage in built]) for built in (stages.build(), stages.build(prefix=True))
    )
    assert prefix_writes < writes / 3
