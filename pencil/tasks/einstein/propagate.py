"""Applying one clue: what it rules out, and the lines that say so (paper, appendix on Einstein's puzzle)."""

from collections.abc import Callable, Collection, Iterator

from pencil.tasks.einstein.instance import OFFSETS, Clue, Relation, house, house_index
from pencil.tasks.einstein.state import State

Say = Callable[[str], None]
"""Writes one line of the trace."""


def apply_clue(clue: Clue, state: State, say: Say) -> list[str]:
    """Rule out what the clue forbids, saying why; the lines that sum up what changed."""
    before = state.copy()
    say(f"PHASE 1: Single-value logic for {clue.first} and {clue.second} under {clue.relation} constraint")
    for category in _categories_of(clue, state):
        _spread_pins(category, state, say)
        _force_only_places(category, state, say)
    say(f"PHASE 2: Handling relation {clue.first} {clue.relation} {clue.second}")
    _HANDLERS[clue.relation](clue, state, say)
    return _changes(before, state) or ["No changes from this constraint"]


def is_satisfied(clue: Clue, state: State) -> bool:
    """Whether the values of a clue are pinned to houses where it holds."""
    pins = {value: state.pinned(value) for value in _values_of(clue)}
    houses = {value: pin for value, pin in pins.items() if pin is not None}
    return len(houses) == len(pins) and clue.holds(houses)


def _values_of(clue: Clue) -> list[str]:
    return [clue.first] if clue.relation is Relation.POSITION else [clue.first, clue.second]


def _categories_of(clue: Clue, state: State) -> list[int]:
    """The categories that a clue speaks of, each once, in the order of its values."""
    return list(dict.fromkeys(state.layout.place_of[value][0] for value in _values_of(clue)))


def _spread_pins(category: int, state: State, say: Say) -> None:
    """A value that is the only possibility of a house is taken from all other houses."""
    row, layout = state.cells[category], state.layout
    for pin, mask in enumerate(row):
        if mask.bit_count() != 1:
            continue
        for at, other in enumerate(row):
            if at != pin and other & mask:
                row[at] = other & ~mask
                value, name = layout.values(category, mask)[0], layout.categories[category].name
                say(f"Removing {value} from {house(at)} {name} category because {value} is pinned in another house")


def _force_only_places(category: int, state: State, say: Say) -> None:
    """A value that only one house can hold goes there."""
    row, names = state.cells[category], state.layout.categories[category]
    for index, value in enumerate(names.values):
        holders = [at for at, mask in enumerate(row) if mask >> index & 1]
        if len(holders) == 1 and row[holders[0]].bit_count() > 1:
            row[holders[0]] = 1 << index
            say(f"Forcing {value} in {house(holders[0])} {names.name} category because it can only appear here")


def _same(clue: Clue, state: State, say: Say) -> None:
    first, second = clue.first, clue.second
    say(f"{first} must be in the SAME house as {second}")
    category, *others = _categories_of(clue, state)
    if not others:
        say(f"No house can hold {first} and {second}")
        state.cells[category] = [0] * state.layout.size
        return
    for value, anchor in ((first, second), (second, first)):
        pin = state.pinned(anchor)
        if pin is not None:
            for placed, where in _confine(value, [pin], state):
                placing = f"Placing {value} in {where} since {anchor} is in this house"
                say(placing if placed else f"Since {anchor} is pinned to {house(pin)} , removing {value} from {where}")
    for at in range(state.layout.size):
        if state.can_hold(first, at) != state.can_hold(second, at):
            state.remove(first, at)
            state.remove(second, at)
            # the paper names the values in this order, whichever of them was still possible
            say(f"{house(at)} can't hold {first} since it can't hold {second}")


def _one_side(clue: Clue, state: State, say: Say) -> None:
    first, second, side = clue.first, clue.second, clue.relation
    opposite = Relation.LEFT if side is Relation.RIGHT else Relation.RIGHT
    step = OFFSETS[side][0]
    say(f"{first} is immediately {side} of {second}")
    _leave_end(first, second, side, state, say, because=f" because {first}")
    # the paper prints no reason in this one case
    _leave_end(second, first, opposite, state, say, because="" if side is Relation.RIGHT else f" because {second}")
    pin = state.pinned(second)
    if pin is not None:
        for placed, where in _confine(first, [pin + step], state):
            placing = f"Placing {first} in {where} because {second} is pinned to {house(pin)}"
            removing = f"Since {second} is pinned to {house(pin)} , removing {first} from {where}"
            say(placing if placed else f"{removing} because {first} must be {side.lower()} of {house(pin)}")
    pin = state.pinned(first)
    if pin is not None:
        for placed, where in _confine(second, [pin - step], state):
            placing = f"Placing {second} in {where} because {first} is pinned to {house(pin)}"
            say(placing if placed else f"{second} must be exactly one house to the {opposite} , removing from {where}")


def _leave_end(value: str, other: str, side: Relation, state: State, say: Say, because: str) -> None:
    """What has a house on its left is not leftmost, what has one on its right is not rightmost."""
    end, name = (0, "leftmost") if side is Relation.RIGHT else (state.layout.size - 1, "rightmost")
    if state.can_hold(value, end):
        state.remove(value, end)
        reason = f"{because} can't be in the {name} house if it's to the {side} of {other}"
        say(f"Removing {value} from {house(end)}{reason}")


def _next(clue: Clue, state: State, say: Say) -> None:
    say(f"{clue.first} must be NEXT to {clue.second}")
    for value, anchor in ((clue.first, clue.second), (clue.second, clue.first)):
        pin = state.pinned(anchor)
        if pin is not None:
            for placed, where in _confine(value, [pin - 1, pin + 1], state):
                placing = f"Placing {value} in {where} because {anchor} is pinned to {house(pin)}"
                removing = f"Since {anchor} is pinned to {house(pin)} , removing {value} from {where}"
                say(placing if placed else f"{removing} because {value} must be next to {house(pin)}")


def _position(clue: Clue, state: State, say: Say) -> None:
    because = f"because {clue.first} must be in {clue.second}"
    say(f"{clue.first} must be in {clue.second}")
    for placed, where in _confine(clue.first, [house_index(clue.second)], state):
        say(f"Placing {clue.first} in {where} {because}" if placed else f"Removing {clue.first} from {where} {because}")


_HANDLERS: dict[Relation, Callable[[Clue, State, Say], None]] = {
    Relation.SAME: _same,
    Relation.LEFT: _one_side,
    Relation.RIGHT: _one_side,
    Relation.NEXT: _next,
    Relation.POSITION: _position,
}


def _confine(value: str, targets: Collection[int], state: State) -> Iterator[tuple[bool, str]]:
    """Keep a value in the target houses only; if just one of them can hold it, it goes there.

    Yields, house by house, whether it was placed there or removed.
    """
    houses = range(state.layout.size)
    holders = [at for at in targets if at in houses and state.can_hold(value, at)]
    for at in houses:
        if at not in targets and state.can_hold(value, at):
            state.remove(value, at)
            yield False, house(at)
        elif holders == [at] and state.has_several(value, at):
            state.put(value, at)
            yield True, house(at)


def _changes(before: State, after: State) -> list[str]:
    """Cells that differ, category by category."""
    layout = after.layout
    return [
        f"{house(at)} {layout.categories[category].name} category changed"
        f" from {layout.possibilities(category, old)} to {layout.possibilities(category, new)}"
        for category, (old_row, new_row) in enumerate(zip(before.cells, after.cells, strict=True))
        for at, (old, new) in enumerate(zip(old_row, new_row, strict=True))
        if old != new
    ]
