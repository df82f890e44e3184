"""The paper's main program: a Turing machine under the reduction rule, step by step and summary by summary.

    pencil fasp run examples/fasp/turing.py "[BOS] B:1:R A:1:L B:1:L"
    pencil fasp compile examples/fasp/turing.py --out bb2.safetensors

A token `B:1:R` says: go to state B, write 1, move right. Any machine of `pencil tm list` will do in place of bb2, and
the rule may be "scroll" (`T [SEP] T' [RETURN] => T'`) or "call" (`[CALL]` opens T and T').
"""

from pencil.theory.machines import load
from pencil.theory.program import turing_program

PROGRAM = turing_program(load("bb2"), rule="scroll")
