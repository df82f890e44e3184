from pencil.theory.compiler.lower import lower
from pencil.theory.compiler.place import place
from pencil.theory.fasp import Program
from pencil.theory.fasp.expr import concat, seq_len
from pencil.theory.fasp.library import leq, relu, seq_sum
from tests.theory.programs import ALPHABET, digit, odd, signed


def test_only_what_the_result_needs_gets_a_place() -> None:
    unused = relu(signed) + seq_sum(odd)
    graph, result = lower(Program(ALPHABET, {"unused": unused, "value": leq(digit, 2)}))
    placement = place(graph, result)
    assert placement.width == 3  # the constant 1, the digit, the comparison
    assert [(len(layer.heads), len(layer.units), len(layer.sums)) for layer in placement.layers] == [(0, 2, 1)]


def test_each_slot_is_made_in_the_layer_of_its_time() -> None:
    graph, result = lower(Program(ALPHABET, {"value": leq(seq_sum(signed), seq_len)}))
    layers = place(graph, result).layers
    assert [(len(layer.heads), len(layer.units)) for layer in layers] == [(1, 1), (0, 2)]


def test_a_shared_head_brings_several_values() -> None:
    graph, result = lower(Program(ALPHABET, {"value": concat(seq_sum(odd), seq_sum(signed))}))
    [heads] = [layer.heads for layer in place(graph, result).layers]
    assert [len(reads) for reads in heads.values()] == [2]
