from pencil.tasks.einstein.state import Layout, State


def test_a_value_is_pinned_where_it_is_the_only_possibility() -> None:
    state = State(Layout.of(3))
    assert state.pinned("Red") is None
    state.put("Red", 1)
    assert state.pinned("Red") == 1


def test_the_smallest_open_cell_is_the_first_one_house_by_house() -> None:
    state = State(Layout.of(3))
    assert state.smallest_open_cell() == (0, 0)
    state.remove("Red", 2)
    state.remove("Fish", 1)
    assert state.smallest_open_cell() == (1, 2)
    for at in range(3):
        for value in ("Red", "Brit", "Fish"):
            state.put(value, at)
    assert state.smallest_open_cell() is None


def test_assigned_means_one_value_each_and_no_two_the_same() -> None:
    state = State(Layout.of(3))
    for values in (("Red", "Green", "Blue"), ("Brit", "Swede", "German"), ("Dogs", "Birds", "Fish")):
        assert not state.is_assigned()
        for at, value in enumerate(values):
            state.put(value, at)
    assert state.is_assigned()
    state.put("Red", 1)
    assert not state.is_assigned()


def test_a_house_without_possibilities_is_impossible() -> None:
    state = State(Layout.of(3))
    for value in ("Red", "Green", "Blue"):
        assert not state.is_impossible()
        state.remove(value, 0)
    assert state.is_impossible()
    assert "Color category have 0 possibilities empty" in " ".join(state.words())


def test_a_copy_can_change_alone() -> None:
    state = State(Layout.of(3))
    state.copy().put("Red", 0)
    assert state.pinned("Red") is None
