from fractions import Fraction

from pencil.theory.compiler import compile_program
from pencil.theory.decode.sparse import ONE, SparseWeights, exact, weighted
from pencil.theory.fasp import FASP_FIRST, Program, seq_len
from pencil.theory.fasp.library import inv_seq_len, leq, seq_sum
from tests.theory.programs import ALPHABET, digit


def test_constants_and_the_position_are_recognised() -> None:
    sparse = SparseWeights(compile_program(Program(ALPHABET, {"value": leq(seq_sum(digit), seq_len)})).weights)
    assert list(sparse.constants.values()) == [1]
    assert sparse.n is not None
    [mean, total, _] = sorted(sparse.written_once)
    assert [unit.gate for unit in sparse.layers[0].units[total]] == [{sparse.n: 1}]
    assert [unit.value for unit in sparse.layers[0].units[total]] == [{mean: 1}]
    assert [unit.gate for unit in sparse.layers[1].units[total + 1]] == [
        {sparse.n: 1, total: -1, ONE: 1},
        {sparse.n: 1, total: -1},
    ]


def test_only_the_position_n_counts_as_n() -> None:
    sparse = SparseWeights(compile_program(Program(ALPHABET, {"value": inv_seq_len}, FASP_FIRST)).weights)
    assert sparse.n is None
    [(_, feature)] = sparse.place
    assert [feature(position) for position in (1, 2, 3)] == [1, 0, 0]


def test_numbers_are_what_the_floats_are() -> None:
    assert exact(3.0) == 3
    assert exact(0.1) == Fraction(0.1) != Fraction(1, 10)


def test_rows_add_up() -> None:
    assert weighted([(2, {0: 1, 1: 3}), (-1, {0: 2, ONE: 4})]) == {1: 6, ONE: -4}
