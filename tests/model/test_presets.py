import pytest

from pencil.errors import ConfigError
from pencil.model.presets import PRESETS, preset
from pencil.model.transformer import Transformer


@pytest.mark.parametrize(("name", "millions"), [("paper-10m", 10.63), ("paper-25m", 25.19), ("paper-3m", 3.15)])
def test_the_paper_counts_the_tied_embedding_of_21_to_27_words(name: str, millions: float) -> None:
    def count(words: int) -> float:
        return round(Transformer(preset(name, words)).parameter_count / 1e6, 2)

    assert count(21) == count(27) == millions


def test_no_other_vocabulary_gives_all_three() -> None:
    def counts(words: int) -> list[float]:
        return [
            round((12 * n * d * d + (2 * n + 1) * d + words * d) / 1e6, 2) for n, d in ((6, 384), (8, 512), (4, 256))
        ]

    assert [words for words in range(200) if counts(words) == [10.63, 25.19, 3.15]] == list(range(21, 28))


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_is_a_model(name: str) -> None:
    assert preset(name, 30, context=64).context == 64


def test_an_unknown_preset_names_the_known_ones() -> None:
    with pytest.raises(ConfigError, match=r"'huge', expected one of paper-10m, .*nano"):
        preset("huge", 30)
