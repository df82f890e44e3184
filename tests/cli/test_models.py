import json
from pathlib import Path

import pytest

from tests.cli.conftest import RunPencil

REPORTS = [{"accuracy": 0.985, "trace_rate": 0.97}, {"accuracy": 1.0, "trace_rate": 0.97}]


@pytest.fixture
def described(shipped: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The model that ships, with a card."""
    home = tmp_path / "home"
    home.mkdir()
    (home / "sat").mkdir()
    (home / "sat" / "config.json").write_text((shipped / "config.json").read_text())
    (home / "sat" / "metrics.json").write_text(json.dumps({"parameters": 103_000, "evaluation": REPORTS}))
    (home / "sat" / "README.md").write_text("# sat\n")
    monkeypatch.setattr("pencil.model.pretrained.HOME", home)


@pytest.mark.usefixtures("described")
def test_models_are_listed_with_their_accuracy(pencil: RunPencil) -> None:
    row = pencil("models").out.splitlines()[-1]
    assert row.split("  ")[0].strip() == "sat"
    assert all(figure in row for figure in ("0.10M", "98.5% to 100.0%", "97.0%"))


@pytest.mark.usefixtures("described")
def test_a_card_is_shown(pencil: RunPencil) -> None:
    assert pencil("models", "sat").out == "# sat\n"
    assert json.loads(pencil("models", "--json").out)["sat"]["sizes"] == [3]


@pytest.mark.usefixtures("described")
def test_an_unknown_model_is_one_line(pencil: RunPencil) -> None:
    result = pencil("models", "chess")
    assert (result.status, result.err) == (2, "pencil: found no model 'chess', expected one of: sat\n")


@pytest.mark.usefixtures("nothing_shipped")
def test_nothing_ships(pencil: RunPencil) -> None:
    assert "no model ships" in pencil("models").out
