import doctest
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize(("page", "least"), [("theory.md", 20), ("models.md", 8)])
def test_every_code_block_of_a_page_runs(page: str, least: int) -> None:
    result = doctest.testfile(str(DOCS / page), module_relative=False)
    assert result.attempted > least
    assert result.failed == 0
