"""Imports go down only."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
LAYERS = [
    {"errors", "files"},
    {"tokens"},
    {"rule"},
    {"trace"},
    {"tasks", "model"},
    {"train", "generate", "theory"},
    {"evaluate"},
    {"recipes", "llm"},
    {"cli", "serve"},
]
HEIGHT = {part: height for height, parts in enumerate(LAYERS) for part in parts}
MODULES = sorted(path.relative_to(ROOT) for path in (ROOT / "pencil").rglob("*.py") if path.parent != ROOT / "pencil")
MODULES += sorted(path.relative_to(ROOT) for path in (ROOT / "pencil").glob("*.py") if not path.stem.startswith("__"))


def imported_parts(path: Path) -> Iterator[tuple[int, str]]:
    """Line and name of each part of the package that a module imports."""
    for node in ast.walk(ast.parse((ROOT / path).read_text())):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno} uses a relative import"
            names = [
                f"{node.module}.{alias.name}" if node.module == "pencil" else str(node.module) for alias in node.names
            ]
        else:
            continue
        yield from ((node.lineno, name.split(".")[1]) for name in names if name.startswith("pencil."))


@pytest.mark.parametrize("path", MODULES, ids=str)
def test_a_module_imports_only_from_below(path: Path) -> None:
    part = path.parts[1].removesuffix(".py")
    assert part in HEIGHT, f"{path} belongs to no layer; add it to LAYERS"
    for line, other in imported_parts(path):
        below = other == part or other == "__version__" or HEIGHT[other] < HEIGHT[part]
        assert below, f"{path}:{line} imports pencil.{other}, which is not below pencil.{part}"


def test_the_core_and_the_command_line_start_without_torch() -> None:
    code = "import sys, pencil, pencil.cli.main; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("path", MODULES, ids=str)
def test_the_package_imports_nothing_beside_it(path: Path) -> None:
    tree = ast.parse((ROOT / path).read_text())
    imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    imported |= {str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert not {name.split(".")[0] for name in imported} & {"tests", "examples", "benchmarks", "experiments", "docs"}
