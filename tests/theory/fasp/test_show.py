from pencil.theory.fasp import Program, interpret
from pencil.theory.fasp.expr import Attend, constant, seq_len
from pencil.theory.fasp.library import average, rha, seq_or, seq_sum, token_onehot
from pencil.theory.fasp.show import attentions, draw_attention
from tests.theory.programs import ALPHABET, digit, odd, word


def test_a_listing_uses_the_names_of_values() -> None:
    total = seq_sum(digit)
    text = repr(Program(ALPHABET, {"total": total, "twice": 2 * total - (total + 1), "some": odd * total}))
    assert text.splitlines() == [
        "FASP[n; ReLU, x] over 0 1 2 3 4",
        "  total  int  seq_sum(token(0: 0, 1: 1, 2: 2, 3: 3, …))",
        "  twice  int  2*total - (total + 1)",
        "  some   int  token(0: 0, 1: 1, 2: 0, 3: 1, …)*total",
    ]


def test_long_vectors_are_cut_short() -> None:
    assert repr(constant(*[0] * 9, 1)) == "onehot(9 of 10): one-hot[10]"
    assert repr(constant(*range(10))) == "(0, 1, 2, 3, 4, 5, 6, 7, …): int[10]"


def test_masks_and_numbers_are_drawn_under_their_tokens() -> None:
    program = Program(ALPHABET, {"seen": seq_or(odd), "mean": average(digit), "word": word})
    assert repr(interpret(program, "0310")).splitlines()[:4] == [
        "      0   3   1 0",
        "seen  ·   █   █ █  bool",
        "mean  0 3/2 4/3 1  real",
        "word  █   ·   · █  one-hot[5]",
    ]


def test_a_vector_is_drawn_line_by_line() -> None:
    drawing = repr(interpret(Program("ab", {"w": rha(1, 1, token_onehot("ab"))}), "abb")["w"])
    assert drawing.splitlines() == ["a b b", "█ · ·  w[0]", "· █ █  w[1]"]


def test_attention_draws_itself_as_a_matrix() -> None:
    program = Program(ALPHABET, {"mean": average(digit), "last odd": rha(1, odd, seq_len)})
    run = interpret(program, "0120")
    (first, mean), (second, last_odd) = attentions(program)
    assert (first, second) == ("mean", "last odd")
    assert isinstance(mean, Attend)
    assert draw_attention(run, mean).splitlines() == [
        "   0 1 2 0",
        "0  █",
        "1  ▓ ▓",
        "2  ▒ ▒ ▒",
        "0  ▒ ▒ ▒ ▒",
    ]
    assert draw_attention(run, last_odd).splitlines()[-1] == "0  · █ · ·"
