import subprocess
import sys
from pathlib import Path

import pytest

from pencil.files import write_atomically


def test_a_file_is_replaced_and_nothing_is_left_beside_it(tmp_path: Path) -> None:
    write_atomically(tmp_path / "a.json", "old")
    write_atomically(tmp_path / "a.json", "∀ new")
    assert (tmp_path / "a.json").read_text(encoding="utf-8") == "∀ new"
    assert [path.name for path in tmp_path.iterdir()] == ["a.json"]


def test_a_failed_write_keeps_the_old_file(tmp_path: Path) -> None:
    write_atomically(tmp_path / "a.json", "old")
    with pytest.raises(UnicodeEncodeError):
        write_atomically(tmp_path / "a.json", "\ud800")
    assert (tmp_path / "a.json").read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["a.json"]


def test_two_processes_may_write_the_same_file(tmp_path: Path) -> None:
    script = "import sys; from pathlib import Path; from pencil.files import write_atomically\n"
    script += "for _ in range(200): write_atomically(Path(sys.argv[1]), sys.argv[2])"
    writers = [subprocess.Popen([sys.executable, "-c", script, tmp_path / "a.json", text]) for text in ("one", "two")]
    assert [writer.wait() for writer in writers] == [0, 0]
    assert (tmp_path / "a.json").read_text() in ("one", "two")
