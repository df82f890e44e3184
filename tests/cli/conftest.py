import sys
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from pencil.cli.main import main


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
