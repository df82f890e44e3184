"""Guessing what a row says next from what followed the same words before.

Reasoning repeats itself: it copies clauses and walks the same steps again. The model reads a guess together with the
token before it, in one pass over the weights and the cache, and says at each place what it would have said anyway. So
a guess changes how long a token takes and never which token it is.
"""

from collections.abc import Sequence

LENGTHS = (24, 12, 6, 3)
"""How many words are looked up; the longest known stretch counts."""
AHEAD = 11
"""How many tokens are guessed at most. The later ones are wrong more often, and cost as much as the first."""
LIMIT = 2**17
"""How many stretches are remembered. Then all are forgotten: the words to come are learned quickly."""


class Guesser:
    """Remembers what followed each stretch of words, and whether it was the same each time.

    >>> guesser = Guesser()
    >>> guesser.learn_all([1, 2, 3, 4, 5])
    >>> guesser.guess([7, 8, 1, 2, 3])
    [4, 5]
    """

    def __init__(self, never: Sequence[int | None] = ()) -> None:
        self.never = never
        self._next: dict[int, int] = {}  # hash of a stretch -> the token after it, or ~token while that varies

    def learn(self, words: Sequence[int]) -> None:
        """The last word followed those before it."""
        if len(self._next) > LIMIT:
            self._next.clear()
        *before, word = words[-LENGTHS[0] - 1 :]
        for length in LENGTHS:
            if len(before) >= length:
                key = hash(tuple(before[-length:]))
                known = self._next.get(key, word)
                self._next[key] = word if known in (word, ~word) else ~word

    def learn_all(self, words: Sequence[int]) -> None:
        """Every word followed those before it."""
        for end in range(LENGTHS[-1] + 1, len(words) + 1):
            self.learn(words[max(0, end - LENGTHS[0] - 1) : end])

    def guess(self, words: Sequence[int], most: int = AHEAD) -> list[int]:
        """What probably follows, as far as that is known and does not vary; it stops before the words of `never`."""
        tail = list(words[-LENGTHS[0] :])
        guessed: list[int] = []
        while len(guessed) < min(most, AHEAD):
            word = self._look_up(tail)
            if word < 0 or word in self.never:
                break
            guessed.append(word)
            tail.append(word)
        return guessed

    def _look_up(self, tail: list[int]) -> int:
        """The word after the longest known end of this tail, or a negative number."""
        for length in LENGTHS:
            word = self._next.get(hash(tuple(tail[-length:])))
            if word is not None:
                return word
        return -1
