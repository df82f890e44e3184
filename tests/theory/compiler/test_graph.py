from pencil.theory.compiler.graph import Feature, Graph, Place, Sum, Unit, combine, constant_of, next_even, next_odd


def test_equal_slots_are_made_once() -> None:
    graph = Graph()
    assert graph.slot(Feature((1, 2))) == graph.slot(Feature((1, 2)))
    assert len(graph.slots) == 2


def test_forms_add_up_and_drop_zeros() -> None:
    assert combine([(2, ((0, 1), (3, 1))), (-1, ((0, 2), (1, 5)))]) == ((1, -5), (3, 2))
    assert constant_of(((0, 4), (2, 1))) == 4
    assert constant_of(((2, 1),)) == 0


def test_a_unit_with_a_constant_gate_is_linear() -> None:
    graph = Graph()
    feature = graph.slot(Feature((-1, 2)))
    assert graph.unit(feature, graph.constant(3)) == combine([(3, feature)])
    assert graph.unit(feature, graph.constant(-3)) == ()
    assert graph.unit(graph.one, graph.slot(Place())) == graph.slot(Place())
    assert isinstance(graph.slots[graph.unit(graph.one, feature)[0][0]], Sum)


def test_signs_are_known_where_they_are_plain() -> None:
    graph = Graph()
    place, feature = graph.slot(Place()), graph.slot(Feature((-1, 2)))
    assert graph.is_nonnegative(place)
    assert not graph.is_nonnegative(feature)
    assert not graph.is_nonnegative(combine([(-1, place)]))
    assert graph.is_nonnegative(graph.slot(Sum(((Unit(graph.one, feature), 1),), boolean=True)))


def test_attention_and_feed_forward_alternate() -> None:
    assert [next_odd(time) for time in range(5)] == [1, 3, 3, 5, 5]
    assert [next_even(time) for time in range(5)] == [2, 2, 4, 4, 6]
