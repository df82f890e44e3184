"""Clues in plain English, in the paper's wording or in the many of the original riddle.

A clue names two values and how they stand to each other, or one value and a house. Every word must be known, so that
a sentence that means something else ("not", "or", "purple") is refused and never misread.

>>> read_clue("The Norwegian lives next to the blue house")
Clue(first='Norwegian', relation=<Relation.NEXT: 'NEXT'>, second='Blue')
>>> read_clue("The man living in the center house drinks milk").second
'middle'
"""

import re

from pencil.errors import ParseError
from pencil.tasks.einstein.instance import CATEGORIES, Clue, Relation

VALUES = {value.lower().replace(" ", ""): value for category in CATEGORIES for value in category.values} | {
    "british": "Brit",
    "briton": "Brit",
    "english": "Brit",
    "englishman": "Brit",
    "swedish": "Swede",
    "danish": "Dane",
    "bier": "Beer",
    "dunhills": "Dunhill",
    "blends": "Blend",
    "princes": "Prince",
    "dog": "Dogs",
    "bird": "Birds",
    "cat": "Cats",
    "horse": "Horses",
}
HOUSES = {
    name: where
    for where, names in {
        "House#1": "first 1st house#1",
        "House#2": "second 2nd house#2",
        "House#3": "third 3rd house#3",
        "House#4": "fourth 4th house#4",
        "House#5": "fifth 5th house#5",
        "last": "last",
        "middle": "middle center centre",
    }.items()
    for name in names.split()
}
"""Words for a house; which one is the middle or the last depends on the size."""
VERBS = frozenset(
    "is are was lives live resides stands keeps keep has have owns own breeds breed raises raise rears rear"
    " drinks drink sips prefers prefer likes like loves love enjoys smokes smoke belongs belong contains share shares"
    " kept owned bred raised reared drunk smoked painted".split()
)
FILLERS = frozenset(
    "the a an one who that which whose in to of on at as it its he she they his her their 's ' and with where there for"
    " house home side hand person people man men woman guy owner homeowner resident tenant inhabitant living residing"
    " keeping owning drinking smoking smoker drinker keeper breeder lover pet pets animal animals beverage cigar cigars"
    " cigarette cigarettes brand tobacco color colour colored coloured favorite favourite"
    ' always also exactly just immediately directly immediate same , : ( ) " - –'.split()
)
SIDES = {"left": Relation.LEFT, "right": Relation.RIGHT}
BESIDE = frozenset(("next", "neighbor"))
KNOWN_WORDS = VALUES.keys() | HOUSES.keys() | VERBS | FILLERS | SIDES.keys() | BESIDE
REWRITES = [
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"[’`]", "'"),
        (r"(\w)-(\w)", r"\1 \2"),
        (r"'s\b", " 's"),
        (r"\bpall ?malls?\b", "pallmall"),
        (r"\bblue ?masters?\b", "bluemaster"),
        (r"\bhouse (?:number )?#?(\d+)", r"house#\1"),
        (r"\b(?:far|extreme) left\b|\bleft ?most\b", "first"),
        (r"\b(?:far|extreme) right\b|\bright ?most\b", "last"),
        (r"\b(first|second|third|fourth|fifth|[1-5](?:st|nd|rd|th)) (house )?(?:on|from) the left\b", r"\1"),
        (r"\bright in the (middle|cent)", r"in the \1"),
        (r"\b(?:right )?next(?: ?door)?\b(?: to each other\b)?", "next"),
        (r"\bneighbou?r(?:s|ing)?\b|\badjacent\b|\bbeside\b|\blives by\b", "neighbor"),
        (r"\b(kept|owned|bred|raised|reared|drunk|smoked) by\b", r"\1"),
    )
]


def read_clue(sentence: str, place: str = "clue") -> Clue:
    """The clue that a sentence states; the house of a position may be `middle` or `last`."""
    words = _known_words(sentence, place)
    if not words:
        raise ParseError(place, "<nothing>", "a sentence such as the Brit lives in the red house")
    values = [VALUES[word] for word in words if word in VALUES]
    houses = [HOUSES[word] for word in words if word in HOUSES]
    relation, swapped = _relation(words, sentence, place)
    if len(set(values)) == len(values) == 2 and not houses:
        first, second = reversed(values) if swapped else values
        return Clue(first, relation, second)
    if len(values) == len(houses) == 1 and relation is Relation.SAME:
        return Clue(values[0], Relation.POSITION, houses[0])
    raise ParseError(place, sentence, "two different values, or one value and one house such as the first")


def names_a_value(sentence: str) -> bool:
    """Whether some value of the puzzles occurs in a sentence."""
    return any(word in VALUES for word in _words(sentence))


def _words(sentence: str) -> list[str]:
    text = sentence.lower()
    for pattern, replacement in REWRITES:
        text = pattern.sub(replacement, text)
    return re.findall(r"house#\d+|'s|\w+|\S", text)


def _known_words(sentence: str, place: str) -> list[str]:
    words = _words(sentence)
    for word in words:
        if word not in KNOWN_WORDS:
            raise ParseError(place, word, "a known value such as Red, Brit or Dogs, or a plain word such as lives")
    return words


def _relation(words: list[str], sentence: str, place: str) -> tuple[Relation, bool]:
    """How the values stand to each other, and whether the sentence names them in the opposite order."""
    sides = [index for index, word in enumerate(words) if word in SIDES]
    neighbors = [index for index, word in enumerate(words) if word in BESIDE]
    if len(sides) == 1 and _are_one_relation(words, sides[0], neighbors):
        return SIDES[words[sides[0]]], _is_swapped(words, sides[0], sentence, place)
    if not sides and len(neighbors) == 1:
        return Relation.NEXT, False
    if not sides and not neighbors and ("same" in words or _has_main_verb(words)):
        return Relation.SAME, False
    raise ParseError(place, sentence, "one relation: next to, left of, right of, or a verb such as is, lives or keeps")


def _are_one_relation(words: list[str], side: int, neighbors: list[int]) -> bool:
    """Whether a neighbor says nothing beyond the side: none, "left neighbor of", or "next to, and left of"."""
    return all(at == side + 1 or "and" in words[at:side] for at in neighbors)


def _is_swapped(words: list[str], side: int, sentence: str, place: str) -> bool:
    """Whether it is said as "left of Y is X" or "Y has X on its left", and not as "X is left of Y"."""
    followed_by_of = re.match(r"(?:(?:side|hand|neighbor|house) )*of\b", " ".join(words[side + 1 :])) is not None
    value_before = any(word in VALUES for word in words[:side])
    value_after = any(word in VALUES for word in words[side:])
    belongs_to_first = any(word in ("has", "its", "his", "her", "their", "'s") for word in words[:side])
    if followed_by_of and value_after:
        return not value_before
    if value_before and belongs_to_first:
        return True
    raise ParseError(place, sentence, f"X is immediately to the {words[side]} of Y")


def _has_main_verb(words: list[str]) -> bool:
    """Whether there is a verb besides those of "who keeps" and the like."""
    inside_relative_clause = False
    for word in words:
        if word in ("who", "that", "which"):
            inside_relative_clause = True
        elif word in VERBS:
            if not inside_relative_clause:
                return True
            inside_relative_clause = False
    return False
