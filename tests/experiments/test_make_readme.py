from experiments.catalogue import EXPERIMENTS
from experiments.make_readme import PAGE, page


def test_the_page_shows_what_is_stored() -> None:
    assert PAGE.read_text() == page(), "run: python -m experiments.make_readme"


def test_every_result_is_there() -> None:
    for experiment in EXPERIMENTS.values():
        assert f"pencil reproduce {experiment.name}\n" in page()
        assert experiment.title in page()
