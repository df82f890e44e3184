"""Copy in reverse: after `#`, write the word before it backwards, then a full stop.

    pencil fasp run examples/fasp/reverse.py "abc#cb"

The next letter is the one at position L - k, where L letters came before `#` and k have been written since.
"""

from pencil.theory.fasp import Program, seq_len, token
from pencil.theory.fasp.library import (
    if_then_else,
    onehot,
    rightmost_exact_match,
    seq_or,
    seq_sum,
    token_onehot,
)

ALPHABET = "abc#."

writing = seq_or(token({"#": 1}, default=0))
letters = seq_sum(~writing)
written = seq_sum(writing) - writing
wanted = letters - written
copied = rightmost_exact_match(wanted, seq_len, token_onehot(ALPHABET), onehot(".", ALPHABET))
result = if_then_else(writing, copied, onehot("#", ALPHABET))

PROGRAM = Program(ALPHABET, {"writing": writing, "letters": letters, "wanted": wanted, "result": result})
