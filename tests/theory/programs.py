"""Programs that the tests of the interpreter, the compiler, the module and the decoder share, fixed and random."""

from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from pencil.theory.fasp import FASP_0, FASP_0_RELU, FASP_FIRST, FASP_N, FASP_N_REGLU, Kind, Program, Variant
from pencil.theory.fasp.expr import Expr, aha, concat, constant, seq_len, token
from pencil.theory.fasp.library import (
    average,
    both,
    differ,
    either,
    equal,
    if_then_else,
    inv_seq_len,
    is_pos,
    kron,
    maximum,
    minimum,
    multiply,
    promise,
    reglu,
    relu,
    rha,
    rha_by_inverse,
    rightmost_best_match,
    rightmost_exact_match,
    seq_and,
    seq_max,
    seq_min,
    seq_or,
    seq_sum,
    square,
    token_onehot,
    xor,
)

ALPHABET = "01234"
digit = token({letter: int(letter) for letter in ALPHABET})
signed = token({letter: int(letter) - 2 for letter in ALPHABET})
odd = token({letter: int(letter) % 2 for letter in ALPHABET})
large = token({letter: int(letter) > 2 for letter in ALPHABET})
word = token_onehot(ALPHABET)


@dataclass(frozen=True)
class Case:
    """A value, an input, and what it must be at every prefix."""

    name: str
    value: Expr
    word: str
    expected: list[Any]
    variant: Variant = FASP_N

    @property
    def program(self) -> Program:
        return Program(ALPHABET, {"value": self.value}, self.variant)


CASES = [
    Case("add", digit + signed, "013", [-2, 0, 4], FASP_0_RELU),
    Case("subtract", 1 - digit, "013", [1, 0, -2], FASP_0_RELU),
    Case("relu", relu(signed), "0134", [0, 0, 1, 2], FASP_0_RELU),
    Case("maximum", maximum(signed, 0), "0134", [0, 0, 1, 2], FASP_0_RELU),
    Case("minimum", minimum(signed, 0), "0134", [-2, -1, 0, 0], FASP_0_RELU),
    Case("both", odd & large, "0134", [0, 0, 1, 0], FASP_0_RELU),
    Case("both of three", both(odd, large, digit <= 3), "0134", [0, 0, 1, 0], FASP_0_RELU),
    Case("either", either(odd, large), "0134", [0, 1, 1, 1], FASP_0_RELU),
    Case("xor", xor(odd, large), "0134", [0, 1, 0, 1], FASP_0_RELU),
    Case("negate", ~odd, "0134", [1, 0, 0, 1], FASP_0_RELU),
    Case("leq", digit <= 2, "1234", [1, 1, 0, 0], FASP_0_RELU),
    Case("less", digit < 2, "1234", [1, 0, 0, 0], FASP_0_RELU),
    Case("geq", digit >= 2, "1234", [0, 1, 1, 1], FASP_0_RELU),
    Case("greater", digit > 2, "1234", [0, 0, 1, 1], FASP_0_RELU),
    Case("equal", equal(digit, 2), "1234", [0, 1, 0, 0], FASP_0_RELU),
    Case("equal vectors", equal(concat(digit, odd), constant(3, 1)), "1234", [0, 0, 1, 0], FASP_0_RELU),
    Case("differ", differ(digit, 2), "1234", [1, 0, 1, 1], FASP_0_RELU),
    Case("kron", kron(word, word)[6], "0123", [0, 1, 0, 0], FASP_0_RELU),
    Case("average", 4 * average(digit), "0240", [0, 4, 8, 6], FASP_0_RELU),
    Case("seq_max", seq_max(-digit), "3142", [-3, -1, -1, -1], FASP_0_RELU),
    Case("seq_min", seq_min(digit), "3142", [3, 1, 1, 1], FASP_0_RELU),
    Case("seq_or", seq_or(odd), "2012", [0, 0, 1, 1], FASP_0_RELU),
    Case("seq_and", seq_and(odd), "1312", [1, 1, 1, 0], FASP_0_RELU),
    Case("multiply", signed * digit, "0134", [0, -1, 3, 8], FASP_0),
    Case("square", square(signed), "0134", [4, 1, 1, 4], FASP_0),
    Case("if_then_else", if_then_else(odd, digit, -digit), "0134", [0, 1, 3, -4], FASP_0),
    Case("if_then_else of booleans", if_then_else(odd, large, ~large), "0134", [1, 0, 1, 0], FASP_0_RELU),
    Case("inv_seq_len", 12 * inv_seq_len, "0000", [12, 6, 4, 3], FASP_FIRST),
    Case("is_pos", is_pos(3), "00000", [0, 0, 1, 0, 0], FASP_FIRST),
    Case("rha_by_inverse", rha_by_inverse(1, odd, digit), "13204", [1, 3, 3, 3, 3], FASP_FIRST),
    Case("seq_sum", seq_sum(signed), "0134", [-2, -3, -2, 0]),
    Case("seq_sum of a constant", seq_sum(constant(2)), "0134", [2, 4, 6, 8]),
    Case("rha", rha(1, odd, digit), "13204", [1, 3, 3, 3, 3]),
    Case("rha of a changing query", rha(signed, digit, seq_len), "40413", [1, 2, 3, 2, 3]),
    Case("best match", rightmost_best_match(digit - 1, digit, seq_len), "4213", [1, 2, 3, 2]),
    Case("best match with a penalty", rightmost_best_match(digit, digit, seq_len, 3 * odd), "2333", [1, 1, 1, 1]),
    Case("exact match", rightmost_exact_match(digit - 1, digit, seq_len, -1), "4231", [-1, -1, 2, -1]),
    Case("exact match of vectors", rightmost_exact_match(word, 2 * word - word, seq_len, 0), "0102", [1, 2, 3, 4]),
    Case("true average over ties", 6 * aha(digit, odd, seq_len), "1320", [6, 9, 9, 15]),
    Case("reglu", reglu(signed, digit), "0134", [0, -1, 3, 8], FASP_N_REGLU),
]


@st.composite
def programs(draw: st.DrawFn) -> Program:
    """A random well-typed program with a few layers of operators."""
    booleans: list[Expr] = [odd, large]
    integers: list[Expr] = [digit, signed, seq_len, constant(draw(st.integers(-3, 3)))]
    for _ in range(draw(st.integers(1, 6))):
        a, b = draw(st.sampled_from(integers)), draw(st.sampled_from(integers))
        p, q = draw(st.sampled_from(booleans)), draw(st.sampled_from(booleans))
        booleans.append(draw(st.sampled_from([p & q, p | q, ~p, a <= b, equal(a, b), seq_or(p), seq_and(p)])))
        new = [
            a + b,
            2 * a - b,
            maximum(a, b),
            minimum(a, b),
            if_then_else(p, a, b),
            if_then_else(p, booleans[-1], q),
            multiply(a, p),
            seq_sum(p),
            seq_sum(signed * p),
            seq_max(minimum(a, 50)),
            rha(1, p, a),
            rha(minimum(maximum(a, -9), 9), odd, b),
            rightmost_best_match(minimum(a, 20), minimum(b, 20), a),
            rightmost_exact_match(digit, minimum(b, 9), a, -1),
            rightmost_exact_match(minimum(a, 9), signed, digit, 7),
        ]
        integers.append(draw(st.sampled_from(new)))
    parts = [integers[-1], booleans[-1], promise(booleans[-1], Kind.INT), average(integers[-1])]
    return Program(ALPHABET, {"value": concat(*parts)}, FASP_N)


words = st.text(ALPHABET, min_size=1, max_size=12)
