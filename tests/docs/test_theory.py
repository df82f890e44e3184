import doctest
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "theory.md"


def test_every_code_block_of_the_page_runs() -> None:
    result = doctest.testfile(str(PAGE), module_relative=False)
    assert result.attempted > 20
    assert result.failed == 0
