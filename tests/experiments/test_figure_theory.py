from pathlib import Path

from experiments.figure_theory import EXPERIMENT, Panel, draw, measure, panels, table

SMALL = Panel("counter", "counter", (4, 9), lambda size: "#" + "0" * (size - 1))


def test_a_row_has_the_sizes_of_both_formats() -> None:
    _, row = measure(SMALL)
    assert row == {
        "size": 9,
        "space": 18,
        "cot_peak": 1023,
        "answer": "accept",
        "steps": 1014,
        "tokens": 2169,
        "reductions": 95,
        "peak": 40,
    }


def test_the_figure_is_drawn(tmp_path: Path) -> None:
    rows = {panel.machine: list(measure(SMALL)) for panel in panels(1000)}
    draw({"rows": rows}, tmp_path / "figure.png")
    assert (tmp_path / "figure.png").exists()
    assert table({"rows": rows})[1] == ["counter", "9", "1,014", "2,169", "18", "40", "26"]


def test_the_stored_result_is_what_the_code_measures() -> None:
    stored = EXPERIMENT.stored()
    assert stored is not None
    for panel in panels(1000):
        small = Panel(panel.machine, panel.title, panel.sizes[:2], panel.word, panel.steps, panel.axis)
        assert stored["rows"][panel.machine][:2] == list(measure(small))
