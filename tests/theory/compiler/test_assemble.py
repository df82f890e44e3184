import numpy as np

from pencil.theory.compiler import compile_program
from pencil.theory.fasp import Program, token
from pencil.theory.fasp.library import seq_sum


def test_the_matrices_of_a_running_sum() -> None:
    weights = compile_program(Program("()", {"depth": seq_sum(token({"(": 1, ")": -1}))})).weights
    one, step, n, mean, depth = np.eye(5)
    [layer] = weights.layers
    [head] = layer.heads
    assert np.array_equal(weights.token, [one + step, one - step])
    assert np.array_equal(weights.place, n)
    assert np.array_equal([head.query, head.key, head.value, head.out.T], [[one], [one], [step], [mean]])
    assert np.array_equal([layer.value, layer.gate, layer.out.T], [[mean], [n], [depth]])
    assert np.array_equal(weights.output, [depth])


def test_the_report_counts_them() -> None:
    weights = compile_program(Program("()", {"depth": seq_sum(token({"(": 1, ")": -1}))})).weights
    assert weights.report() == {
        "vocabulary": 2,
        "layers": 1,
        "heads_per_layer": [1],
        "units_per_layer": [1],
        "width": 5,
        "nonzeros": 13,
        "parameters": 55,
    }
