"""Puzzles as text: the paper's prompt, and the riddle as people type it."""

import re

from pencil.errors import ParseError
from pencil.tasks.einstein.english import KNOWN_WORDS, names_a_value, read_clue
from pencil.tasks.einstein.instance import CATEGORIES, SIZES, Clue, Puzzle, Relation, categories, constraint, house
from pencil.tokens import PROMPT_END, START

MAX_CLUES = 30
"""More than a puzzle needs: at most 24 clues about 25 values can each tell something new."""

_LINKS = {
    Relation.SAME: "is the same house as",
    Relation.LEFT: "is immediately to the left of",
    Relation.RIGHT: "is immediately to the right of",
    Relation.NEXT: "is next to",
    Relation.POSITION: "is in",
}
_PHRASES = {value: category.phrase.format(value) for category in CATEGORIES for value in category.values}


def puzzle_text(puzzle: Puzzle) -> str:
    """The clues as the paper words them, one a line.

    >>> clues = Clue("Green", Relation.RIGHT, "Birds"), Clue("Brit", Relation.POSITION, "House#1")
    >>> print(puzzle_text(Puzzle(3, clues)))
    Constraint#1 : the Green house is immediately to the right of the one who keeps Birds
     Constraint#2 : the Brit is in House#1
    """
    return "\n ".join(f"{constraint(index)} : {_clue_text(clue)}" for index, clue in enumerate(puzzle.clues))


def _clue_text(clue: Clue) -> str:
    return f"{_PHRASES[clue.first]} {_LINKS[clue.relation]} {_PHRASES.get(clue.second, clue.second)}"


def parse(text: str) -> Puzzle:
    """A puzzle from its clues; introductions, numbering and the question who owns the Fish are allowed.

    The size is the one that the text gives ("there are 5 houses"), else the smallest that has all values named.
    """
    clues: list[Clue] = []
    stated_size = None
    for sentence in _sentences(text):
        if _is_question(sentence):
            continue
        if _is_introduction(sentence):
            stated_size = _stated_size(sentence) or stated_size
        else:
            clues.append(read_clue(sentence, f"clue {len(clues) + 1}"))
    if not 0 < len(clues) <= MAX_CLUES:
        raise ParseError(
            "puzzle", f"<{len(clues)} clues>", f"1 to {MAX_CLUES}, such as the Brit lives in the red house"
        )
    size = stated_size or _smallest_size(clues)
    return Puzzle(size, tuple(_settle(clue, size, f"clue {number}") for number, clue in enumerate(clues, start=1)))


_SENTENCE = re.compile(r"\s*(?:\d+\.)?[^.;!?\n]*\??")
_LABEL = re.compile(
    r"""(?:[-*•–]\s*)?  # a bullet
    (?:\(?\d+[.):] | (?:clue|hint|constraint)\s*\#?\d+\s*: | (?:clues|hints):(?=.))?  # a number or a heading
    \s*""",
    re.IGNORECASE | re.VERBOSE,
)


def _sentences(text: str) -> list[str]:
    """The sentences of the prompt, without special words, numbers and bullets."""
    prompt = text.strip().removeprefix(START).removesuffix(PROMPT_END)
    return [_LABEL.sub("", piece.strip(), count=1) for piece in _SENTENCE.findall(prompt) if piece.strip()]


_ASKS = re.compile(r"(?:who|which)\b[^.]* (?:owns|keeps|has|breeds|raises)\b[^.]*$", re.IGNORECASE)


def _is_question(sentence: str) -> bool:
    """Whether a sentence asks who owns the Fish; the answer to anything else is not ours to give."""
    if not (sentence.endswith("?") or _ASKS.match(sentence)):
        return False
    if not re.search(r"\bfish\b", sentence, re.IGNORECASE):
        raise ParseError("question", sentence, "Who owns the Fish?")
    return True


_INTRODUCTION_WORDS = frozenset(
    "houses homes owners people persons men neighbors each every different distinct certain unique various colorful"
    " own no one two six seven eight nine ten"
    " colors colours nationality nationalities beverages drinks brands cigarettes cigars pets type kind sort"
    " hint hints clue clues fact facts constraint constraints riddle puzzle question following here these those this"
    " there street row line village numbered painted wall walls other another or any all none them we you know given"
    " einstein wrote s called single from not is are have has".split()
)


def _is_introduction(sentence: str) -> bool:
    """Whether a sentence sets the scene: it names no value, and all its words are those of an introduction."""
    words = set(re.findall(r"[a-z]+", sentence.lower()))
    known = _INTRODUCTION_WORDS | KNOWN_WORDS | _SIZES.keys()
    return bool(words & _INTRODUCTION_WORDS) and words <= known and not names_a_value(sentence)


_SIZES = {"three": 3, "four": 4, "five": 5, "3": 3, "4": 4, "5": 5}


def _stated_size(sentence: str) -> int | None:
    found = re.search(r"\b(\d+|one|two|three|four|five|six|seven|eight|nine|ten) (?:\w+ )?houses\b", sentence.lower())
    if found is None:
        return None
    size = _SIZES.get(found[1])
    if size is None:
        raise ParseError("introduction", found[0], "three, four or five houses")
    return size


def _smallest_size(clues: list[Clue]) -> int:
    named = {name for clue in clues for name in (clue.first, clue.second)} - {"middle", "last"}
    return next((size for size in SIZES if named <= _names(size)), SIZES[-1])


def _names(size: int) -> set[str]:
    """All values and houses of a size."""
    values = {value for category in categories(size) for value in category.values}
    return values | {house(at) for at in range(size)}


def _settle(clue: Clue, size: int, place: str) -> Clue:
    """The clue with the middle and the last house by number; its names must belong to the size."""
    if clue.second == "middle" and size % 2 == 0:
        raise ParseError(place, "middle house", f"a house by number, because {size} houses have no middle")
    second = {"middle": house(size // 2), "last": house(size - 1)}.get(clue.second, clue.second)
    for name in (clue.first, second):
        if name not in _names(size):
            raise ParseError(place, name, f"a value or a house that the puzzle with {size} houses has")
    return Clue(clue.first, clue.relation, second)
