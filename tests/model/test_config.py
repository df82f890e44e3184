import pytest

from pencil.errors import ConfigError
from pencil.model.config import ModelConfig

CONFIG = ModelConfig(vocab_size=11, n_layers=2, d_model=32, n_heads=4, context=50)


@pytest.mark.parametrize(
    ("bad", "says"),
    [
        ({"n_layers": 0}, "n_layers is 0"),
        ({"vocab_size": 2.5}, "vocab_size is 2.5"),
        ({"context": True}, "context is True"),
        ({"n_heads": 3}, "try 30"),
        ({"recent": -1}, "recent is -1"),
        ({"levels": -1}, "levels is -1"),
        ({"places": 1.5}, "places is 1.5"),
        ({"recent": 65}, "up to 64 of them"),
        ({"frames": -2}, "frames is -2"),
        ({"pairs": 1}, "pairs is 1"),
        ({"outermost": 1}, "outermost is 1"),
        ({"recent": 8, "pairs": True, "vocab_size": 400}, "1280000 rows of a table"),
        ({"rope_base": 0}, "rope_base is 0"),
        ({"rope_base": float("nan")}, "rope_base is nan"),
    ],
)
def test_impossible_sizes_are_refused(bad: dict[str, int], says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        ModelConfig(**{**vars(CONFIG), **bad})
