"""Recognise a^n b^n, a language that no finite automaton knows.

pencil fasp run examples/fasp/anbn.py aaabbb
"""

from pencil.theory.fasp import Program, token
from pencil.theory.fasp.library import equal, seq_or, seq_sum

is_a = token({"a": 1, "b": 0})
is_b = token({"a": 0, "b": 1})
surplus = seq_sum(is_a - is_b)
out_of_order = seq_or(is_a & seq_or(is_b))
accepted = equal(surplus, 0) & ~out_of_order

PROGRAM = Program("ab", {"surplus": surplus, "out_of_order": out_of_order, "accepted": accepted})
