from pencil.theory.compiler.graph import Read, Sum
from pencil.theory.compiler.lower import lower
from pencil.theory.fasp import FASP_N_REGLU, Program, Variant
from pencil.theory.fasp.expr import Expr, concat, seq_len
from pencil.theory.fasp.library import (
    average,
    equal,
    if_then_else,
    leq,
    onehot,
    reglu,
    relu,
    rha,
    seq_sum,
)
from pencil.theory.fasp.program import FASP_N
from tests.theory.programs import ALPHABET, digit, large, odd, signed, word


def slots(value: Expr, variant: Variant = FASP_N, *, fold: bool = True) -> tuple[int, list[int]]:
    """The time at which a value is known, and the number of units of each sum it reads."""
    graph, forms = lower(Program(ALPHABET, {"value": value}, variant), fold=fold)
    read = [graph.slots[index] for form in forms for index, _ in form]
    return graph.time(*forms), [len(slot.terms) for slot in read if isinstance(slot, Sum)]


def test_linear_things_need_no_layer() -> None:
    assert slots(2 * digit - signed + 3) == (0, [])
    assert slots(concat(word, ~odd)) == (0, [])


def test_each_operator_takes_as_few_units_as_it_can() -> None:
    assert slots(relu(signed)) == (2, [1])
    assert slots(relu(odd)) == (0, [])  # a boolean is never negative
    assert slots(reglu(signed, digit), FASP_N_REGLU) == (2, [1])
    assert slots(signed * digit) == (2, [1])  # one factor is never negative
    assert slots(signed * signed) == (2, [2])
    assert slots(signed * 3) == (0, [])
    assert slots(leq(digit, 2)) == (2, [2])
    assert slots(equal(digit, 2)) == (2, [3])


def test_attention_is_odd_and_feed_forward_even() -> None:
    assert slots(average(digit)) == (1, [])
    assert slots(seq_sum(digit)) == (2, [1])
    assert slots(average(relu(signed))) == (3, [])


def test_nested_choices_become_one_layer() -> None:
    nested = if_then_else(odd, if_then_else(large, word, onehot("0", ALPHABET)), onehot("1", ALPHABET))
    assert slots(nested)[0] == 2
    assert slots(nested, fold=False)[0] == 4


def test_a_choice_waits_no_longer_than_its_latest_condition() -> None:
    late = seq_sum(odd) > 2  # known at time 4
    assert slots(if_then_else(late, odd & large, odd))[0] == 6
    assert slots(if_then_else(large, late & odd, odd))[0] == 6
    assert slots(if_then_else(large, late & odd, odd), fold=False)[0] == 8


def test_equal_queries_and_keys_share_a_head() -> None:
    graph, forms = lower(Program(ALPHABET, {"value": concat(rha(1, odd, digit), rha(1, odd, seq_len))}))
    reads = [slot for form in forms for slot in (graph.slots[index] for index, _ in form) if isinstance(slot, Read)]
    assert len(reads) == 2
    assert reads[0].head == reads[1].head


def test_equal_expressions_are_computed_once() -> None:
    _, (first, second) = lower(Program(ALPHABET, {"value": concat(relu(signed) + 1, 1 + relu(signed))}))
    assert first == second
