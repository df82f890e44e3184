import pytest

from pencil.theory.fasp.types import FaspError, Kind, Signature, Type


@pytest.mark.parametrize(
    ("signature", "found", "expected"),
    [
        ("int[d], int[d] -> bool[d]", ["bool 2", "int 2"], "bool[2]"),
        ("int[d], int[d] -> bool[d]", ["int 2", "int 3"], None),
        ("int[d], int[d] -> bool[d]", ["int 2"], None),
        ("int[d], int[d] -> bool[d]", ["real 1", "int 1"], None),
        ("any[d] -> any+int[d]", ["bool 3"], "int[3]"),
        ("any[d] -> any+int[d]", ["real 3"], "real[3]"),
        ("any[d], any[d] -> any[d]", ["onehot 2", "bool 2"], "bool[2]"),
        ("bool[d], bool[d]... -> bool[d]", ["bool 1", "bool 1", "onehot 1"], "bool"),
        ("onehot[*], onehot[*]... -> onehot[*]", ["onehot 2", "onehot 3"], "one-hot"),
        ("int[k], any[d] -> any[d]", ["int 1", "real 4"], "real[4]"),
    ],
)
def test_a_signature_gives_a_type_or_none(signature: str, found: list[str], expected: str | None) -> None:
    types = [Type(Kind[name.upper()], int(dim)) for name, dim in (text.split() for text in found)]
    result = Signature.parse(signature).apply(types)
    assert (None if result is None else str(result)) == expected


def test_a_plain_number_takes_the_dimension_of_its_place() -> None:
    bound = Signature.parse("int[k], int[k], any[d] -> any[d]").bind(
        [Type(Kind.INT, None), Type(Kind.INT, 2), Type(Kind.REAL, 5)]
    )
    assert bound == (Type(Kind.REAL, 5), [2, 2, 5])


def test_one_problem_is_one_line_and_several_are_listed() -> None:
    assert str(FaspError(["a"])) == "a"
    assert str(FaspError(["a", "b"])).splitlines() == ["2 problems in this FASP program:", "  a", "  b"]
