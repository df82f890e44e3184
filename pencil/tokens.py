"""Words and ids: the special marks, and closed vocabularies that map between the two.

Text is words joined by single spaces; a newline is a word of its own, written without a space before it.

>>> split("House#1\\n Color category is Red")
['House#1', '\\n', 'Color', 'category', 'is', 'Red']
>>> join(split("House#1\\n Color category is Red"))
'House#1\\n Color category is Red'
"""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from pencil.errors import VocabError

TokenT = TypeVar("TokenT", bound=Hashable)

CALL, SEP, RETURN = "[CALL]", "[SEP]", "[RETURN]"
START, PROMPT_END, END = "<|startoftext|>", "<|endofprompt|>", "<|endoftext|>"
SPECIAL_WORDS = (START, PROMPT_END, END, CALL, SEP, RETURN)


@dataclass(frozen=True)
class Marks(Generic[TokenT]):
    """The three tokens that structure a trace, as words or as ids."""

    call: TokenT
    sep: TokenT
    ret: TokenT


WORD_MARKS: Marks[str] = Marks(CALL, SEP, RETURN)


def split(text: str) -> list[str]:
    """Text to words."""
    return [word for word in text.replace("\n", " \n ").replace("\t", " ").split(" ") if word]


def join(words: Iterable[str]) -> str:
    """Words to text, the inverse of `split`."""
    return " ".join(words).replace(" \n", "\n")


class Vocab:
    """A closed vocabulary: the special words first, then a task's own, in the order declared.

    >>> vocab = Vocab(["True", "False"])
    >>> vocab.encode([CALL, "True"])
    [3, 6]
    >>> vocab.decode([3, 6])
    ['[CALL]', 'True']
    """

    def __init__(self, words: Iterable[str]) -> None:
        self.words: tuple[str, ...] = (*SPECIAL_WORDS, *words)
        self._ids = {word: index for index, word in enumerate(self.words)}
        if len(self._ids) != len(self.words):
            twice = next(word for index, word in enumerate(self.words) if self._ids[word] != index)
            raise VocabError(f"the word {twice!r} is declared twice; a vocabulary lists each word once")
        self.marks: Marks[int] = Marks(*(self._ids[mark] for mark in (CALL, SEP, RETURN)))
        self.end = self._ids[END]

    def __len__(self) -> int:
        return len(self.words)

    def __contains__(self, word: object) -> bool:
        return word in self._ids

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Vocab) and self.words == other.words

    def __hash__(self) -> int:
        return hash(self.words)

    def encode(self, words: Sequence[str]) -> list[int]:
        """Words to ids; an unknown word is an error that names it and its place."""
        try:
            return list(map(self._ids.__getitem__, words))
        except KeyError as error:
            word = error.args[0]
            place = words.index(word) + 1
            raise VocabError(
                f"word {place} is {word!r}, which is not among the {len(self)} words of this vocabulary;"
                " try a vocabulary made for a larger size, or check the spelling"
            ) from None

    def decode(self, ids: Iterable[int]) -> list[str]:
        """Ids to words."""
        words = self.words
        decoded = []
        for index in ids:
            if not 0 <= index < len(words):
                raise VocabError(f"id {index} is outside of this vocabulary's 0 to {len(words) - 1}")
            decoded.append(words[index])
        return decoded
