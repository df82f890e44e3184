"""Types of FASP values: a kind and a dimension, and the signatures of operators (paper, appendix "Fine-Grained Types").

Each kind is a special case of the next: one-hot vectors are boolean, booleans are integers, integers are reals.

>>> signature = Signature.parse("int[d], int[d] -> bool[d]")
>>> print(signature.apply([Type(Kind.BOOL, 3), Type(Kind.INT, 3)]))
bool[3]
>>> signature.apply([Type(Kind.REAL, 3), Type(Kind.INT, 3)]) is None
True
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum

from pencil.errors import PencilError


class FaspError(PencilError):
    """A FASP program that is not well formed; the message lists every problem, one on each line."""

    def __init__(self, problems: Iterable[str]) -> None:
        self.problems = tuple(problems)
        count = len(self.problems)
        heading = f"{count} problem{'s' if count > 1 else ''} in this FASP program:"
        super().__init__(self.problems[0] if count == 1 else "\n  ".join((heading, *self.problems)))


class Kind(IntEnum):
    """What a value's coordinates may be, from the narrowest to the widest."""

    ONEHOT = 0
    BOOL = 1
    INT = 2
    REAL = 3

    def __str__(self) -> str:
        return ("one-hot", "bool", "int", "real")[self]


@dataclass(frozen=True)
class Type:
    """A kind and a dimension; the dimension of a plain number is None, and takes what its neighbours have."""

    kind: Kind
    dim: int | None = 1

    def __str__(self) -> str:
        return str(self.kind) if self.dim in (1, None) else f"{self.kind}[{self.dim}]"


_NAMES = {"onehot": Kind.ONEHOT, "bool": Kind.BOOL, "int": Kind.INT, "real": Kind.REAL}
_WORD = re.compile(r"(onehot|bool|int|real|any)(\+int)?(?:\[(\w+|\*)\])?(\.\.\.)?")


@dataclass(frozen=True)
class Parameter:
    """One place of a signature: `bool`, `int[d]`, `any[*]...` and so on."""

    kind: Kind | None
    """None stands for `any`: whatever comes in goes out."""
    dim: str
    """A number, a variable that all its places share, or `*` for anything."""
    repeated: bool = False
    at_least_int: bool = False

    @classmethod
    def parse(cls, text: str) -> "Parameter":
        """One place from its text."""
        match = _WORD.fullmatch(text.strip())
        assert match is not None, text
        name, at_least_int, dim, repeated = match.groups()
        return cls(_NAMES.get(name), dim or "1", bool(repeated), bool(at_least_int))


@dataclass(frozen=True)
class Signature:
    """The types an operator takes and gives, parsed from text such as `int[d], int[d] -> bool[d]`."""

    text: str
    parameters: tuple[Parameter, ...]
    result: Parameter

    @classmethod
    def parse(cls, text: str) -> "Signature":
        """A signature from its text."""
        before, after = text.split("->")
        parameters = tuple(Parameter.parse(part) for part in before.split(",") if part.strip())
        return cls(text, parameters, Parameter.parse(after))

    @property
    def expected(self) -> str:
        """The types it takes, for messages."""
        return f"({self.text.split('->')[0].strip()})"

    def apply(self, found: Sequence[Type]) -> Type | None:
        """The type that comes out, or None if what goes in does not fit."""
        bound = self.bind(found)
        return None if bound is None else bound[0]

    def bind(self, found: Sequence[Type]) -> tuple[Type, list[int]] | None:
        """What comes out, and the dimension that each place has then, which a plain number takes."""
        places = self._places(len(found))
        if places is None:
            return None
        bound: dict[str, int] = {}
        kind = Kind.ONEHOT
        for place, type_ in zip(places, found, strict=True):
            if not _dimension_fits(place.dim, type_.dim, bound):
                return None
            if place.kind is None:
                kind = max(kind, type_.kind)
            elif type_.kind > place.kind:
                return None
        dims = [type_.dim or _dimension(place.dim, bound) or 1 for place, type_ in zip(places, found, strict=True)]
        return self._result(kind, bound), dims

    def _places(self, count: int) -> list[Parameter] | None:
        places = list(self.parameters)
        if places and places[-1].repeated:
            places += [places[-1]] * (count - len(places))
        return places if len(places) == count else None

    def _result(self, kind: Kind, bound: dict[str, int]) -> Type:
        result = self.result
        kind = kind if result.kind is None else result.kind
        kind = max(kind, Kind.INT) if result.at_least_int else kind
        return Type(kind, _dimension(result.dim, bound))


def _dimension(dim: str, bound: dict[str, int]) -> int | None:
    return int(dim) if dim.isdigit() else bound.get(dim)


def _dimension_fits(wanted: str, found: int | None, bound: dict[str, int]) -> bool:
    if found is None or wanted == "*":
        return True
    if wanted.isdigit():
        return found == int(wanted)
    return bound.setdefault(wanted, found) == found
