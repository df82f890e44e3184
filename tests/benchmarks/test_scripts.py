import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPTS = sorted(path.stem for path in (ROOT / "benchmarks").glob("*.py") if path.stem not in ("__init__", "common"))


@pytest.mark.slow
@pytest.mark.parametrize("name", SCRIPTS)
def test_a_benchmark_prints_its_rows(name: str) -> None:
    command = [sys.executable, "-m", f"benchmarks.{name}", "--quick", "--json"]
    rows = json.loads(subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout)
    assert rows
    for row in rows:
        assert {"name", "ours", "baseline", "ratio"} <= row.keys()
        assert row["ratio"] > 0
