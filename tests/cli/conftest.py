import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from pencil.cli.main import main
from tests.cli.parrot import save_parrot


@dataclass(frozen=True)
class Result:
    status: int
    out: str
    err: str


RunPencil = Callable[..., Result]


@pytest.fixture
def pencil(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> RunPencil:
    """Runs the command line in this process."""

    def run(*arguments: object) -> Result:
        monkeypatch.setattr(sys, "argv", ["pencil", *map(str, arguments)])
        with pytest.raises(SystemExit) as exit_:
            main()
        captured = capsys.readouterr()
        return Result(int(exit_.value.code or 0), captured.out, captured.err)

    return run


@pytest.fixture(scope="session")
def parrots(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder as that of the models that ship, which holds one: `sat`."""
    home = tmp_path_factory.mktemp("pretrained")
    save_parrot(home / "sat")
    return home


@pytest.fixture
def shipped(parrots: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """That model ships, and no other."""
    monkeypatch.setattr("pencil.model.pretrained.HOME", parrots)
    return parrots / "sat"


@pytest.fixture
def nothing_shipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No model ships."""
    monkeypatch.setattr("pencil.model.pretrained.HOME", tmp_path)
