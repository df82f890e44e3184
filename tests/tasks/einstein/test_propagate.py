import pytest

from pencil.tasks.einstein import Clue, Relation
from pencil.tasks.einstein.propagate import apply_clue, is_satisfied
from pencil.tasks.einstein.state import Layout, State


def apply(clue: Clue, state: State) -> tuple[list[str], list[str]]:
    """The lines of phase 2 after its heading, and the changes."""
    said: list[str] = []
    changes = apply_clue(clue, state, said.append)
    heading = next(index for index, line in enumerate(said) if line.startswith("PHASE 2"))
    return said[heading + 2 :], changes


def test_left_mirrors_right() -> None:
    state = State(Layout.of(3))
    state.put("Birds", 1)
    lines, changes = apply(Clue("Green", Relation.LEFT, "Birds"), state)
    assert lines == [
        "Removing Green from House#3 because Green can't be in the rightmost house if it's to the LEFT of Birds",
        "Placing Green in House#1 because Birds is pinned to House#2",
        "Since Birds is pinned to House#2 , removing Green from House#2 because Green must be left of House#2",
    ]
    assert changes[0] == "House#1 Color category changed from 3 possibilities Blue Green Red to 1 possibilities Green"


def test_left_moves_the_second_value_too() -> None:
    state = State(Layout.of(4))
    state.put("Green", 0)
    lines, _ = apply(Clue("Green", Relation.LEFT, "Tea"), state)
    assert lines == [
        "Removing Tea from House#1 because Tea can't be in the leftmost house if it's to the RIGHT of Green",
        "Placing Tea in House#2 because Green is pinned to House#1",
        "Tea must be exactly one house to the RIGHT , removing from House#3",
        "Tea must be exactly one house to the RIGHT , removing from House#4",
    ]


def test_same_rules_both_values_out_where_one_cannot_be() -> None:
    state = State(Layout.of(3))
    state.remove("Red", 0)
    lines, changes = apply(Clue("Dogs", Relation.SAME, "Red"), state)
    assert lines == ["House#1 can't hold Dogs since it can't hold Red"]
    assert changes == [
        "House#1 Pet category changed from 3 possibilities Birds Dogs Fish to 2 possibilities Birds Fish"
    ]


def test_a_neighbor_is_placed_only_where_no_other_side_is_left() -> None:
    state = State(Layout.of(3))
    state.put("Brit", 1)
    assert apply(Clue("Blue", Relation.NEXT, "Brit"), state)[0] == [
        "Since Brit is pinned to House#2 , removing Blue from House#2 because Blue must be next to House#2"
    ]
    state = State(Layout.of(4))
    state.put("Brit", 1)
    state.remove("Blue", 0)
    assert apply(Clue("Blue", Relation.NEXT, "Brit"), state)[0] == [
        "Since Brit is pinned to House#2 , removing Blue from House#2 because Blue must be next to House#2",
        "Placing Blue in House#3 because Brit is pinned to House#2",
        "Since Brit is pinned to House#2 , removing Blue from House#4 because Blue must be next to House#2",
    ]


def test_a_clue_within_one_category_looks_at_it_once() -> None:
    state = State(Layout.of(3))
    state.put("Red", 0)
    said: list[str] = []
    apply_clue(Clue("Green", Relation.RIGHT, "Blue"), state, said.append)
    assert said.count("Removing Red from House#2 Color category because Red is pinned in another house") == 1


@pytest.mark.parametrize(
    ("clue", "satisfied"),
    [
        (Clue("Red", Relation.LEFT, "Brit"), True),
        (Clue("Brit", Relation.RIGHT, "Red"), True),
        (Clue("Brit", Relation.NEXT, "Red"), True),
        (Clue("Red", Relation.RIGHT, "Brit"), False),
        (Clue("Red", Relation.SAME, "Brit"), False),
        (Clue("Red", Relation.POSITION, "House#1"), True),
        (Clue("Red", Relation.POSITION, "House#2"), False),
        (Clue("Red", Relation.SAME, "Dogs"), False),  # Dogs is not pinned
    ],
)
def test_a_clue_is_satisfied_once_its_values_are_pinned_right(clue: Clue, satisfied: bool) -> None:
    state = State(Layout.of(3))
    state.put("Red", 0)
    state.put("Brit", 1)
    assert is_satisfied(clue, state) is satisfied
