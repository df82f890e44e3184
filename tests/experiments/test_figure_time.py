from pathlib import Path
from typing import Any

from experiments.figure_time import curves, frontier, seconds_to_solve, solved_by_card, table
from pencil.model.pretrained import Bundled


def report(size: int, *each: tuple[bool, float]) -> dict[str, Any]:
    return {"size": size, "count": len(each), "each": [[*one, 9] for one in each]}


def test_a_size_is_solved_when_enough_instances_are_right() -> None:
    times = [(True, float(second)) for second in range(1, 21)]
    assert seconds_to_solve(report(3, *times)) == 19  # 95 % of 20
    assert seconds_to_solve(report(3, *times[:-1], (False, 20.0))) == 19
    assert seconds_to_solve(report(3, *times[:-2], (False, 1.0), (False, 1.0))) is None


def test_the_frontier_holds_sizes_that_no_smaller_time_solves() -> None:
    reports = [report(3, (True, 2.0)), report(4, (True, 1.0)), report(5, (False, 1.0)), report(6, (True, 5.0))]
    assert frontier(reports) == [(1.0, 4), (5.0, 6)]


def test_models_for_single_sizes_count_as_one() -> None:
    def model(size: int) -> dict[str, Any]:
        return {"steps": 10, "minutes": 30.0, "reports": [report(size, (True, float(size)))]}

    result = {"models": {"einstein-ships-einstein3": model(3), "einstein-ships-einstein4": model(4)}}
    cost, steps = curves(result)["einstein"]["ships"]
    assert (cost["minutes"], steps) == (60.0, [(3.0, 3), (4.0, 4)])
    assert table(result)[-1] == ["Einstein's puzzle, PENCIL, the model that ships: ours, 60 min", "4", "4.00"]


def test_a_size_that_a_card_does_not_count_as_solved_is_not(tmp_path: Path) -> None:
    facts = {"evaluation": [{"size": 3, "accuracy": 0.99}, {"size": 4, "accuracy": 0.9}]}
    model = Bundled(tmp_path, "einstein", (3, 4), facts)
    lucky = [report(size, (True, 1.0)) for size in (3, 4)]
    assert solved_by_card(model, lucky) == lucky[:1]
