"""Which of two letters is in the majority so far; a tie goes to neither.

    pencil fasp run examples/fasp/majority.py abbab

The lead is a sum, so it needs the position n; the share of `a` is an average and needs no position at all.
"""

from pencil.theory.fasp import Program, token
from pencil.theory.fasp.library import average, seq_sum

share_of_a = average(token({"a": 1, "b": 0}))
lead = seq_sum(token({"a": 1, "b": -1}))
a_leads = lead > 0
b_leads = lead < 0

PROGRAM = Program("ab", {"share_of_a": share_of_a, "lead": lead, "a_leads": a_leads, "b_leads": b_leads})
