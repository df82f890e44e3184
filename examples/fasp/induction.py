"""The induction head: predict the token that came after the last earlier occurrence of the current one.

    pencil fasp run examples/fasp/induction.py abcab

Nothing is sorted and nothing is compared pair by pair: one head fetches the previous token, a second one looks for the
last position whose previous token is the current token. Where there is none, the first letter is predicted.
"""

from pencil.theory.fasp import Program, constant, seq_len
from pencil.theory.fasp.library import onehot, rightmost_exact_match, token_onehot

ALPHABET = "abc"

word = token_onehot(ALPHABET)
previous = rightmost_exact_match(seq_len - 1, seq_len, word, constant(*[0] * len(ALPHABET)))
predicted = rightmost_exact_match(word, previous, word, onehot("a", ALPHABET))

PROGRAM = Program(ALPHABET, {"word": word, "previous": previous, "predicted": predicted})
