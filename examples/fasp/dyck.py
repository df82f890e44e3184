"""Count parentheses: how deep, and whether they are balanced so far.

    pencil fasp run examples/fasp/dyck.py "(()())("

The depth is a running sum, and a closing parenthesis without a partner is a depth that was once below zero.
"""

from pencil.theory.fasp import Program, token
from pencil.theory.fasp.library import equal, seq_min, seq_sum

depth = seq_sum(token({"(": 1, ")": -1}))
lowest = seq_min(depth)
balanced = equal(depth, 0) & (lowest >= 0)

PROGRAM = Program("()", {"depth": depth, "lowest": lowest, "balanced": balanced})
