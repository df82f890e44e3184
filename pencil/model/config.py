"""The sizes of a transformer; free of torch, so that a wrong one is told at once."""

from dataclasses import dataclass

from pencil.errors import ConfigError

LARGEST = 2**20
"""Of any size; rotations are tabled for each position."""
MOST_AROUND = {"recent": 64, "levels": 64, "places": LARGEST, "frames": 64}
"""Words before a word, levels of calls, and places after the last one, that its embedding may hold; frames it sees."""


@dataclass(frozen=True)
class ModelConfig:
    """The sizes of a transformer."""

    vocab_size: int
    n_layers: int
    d_model: int
    n_heads: int
    context: int = 2048
    """The longest sequence it reads; the paper's window."""
    rope_base: float = 10_000.0
    """The slowest rotary pair turns once in about 2 pi times this many tokens."""
    recent: int = 0
    """How many of the words before it are part of a word's embedding; the paper's model has none."""
    pairs: bool = False
    """Whether each comes with the word before it, from the word itself on, so that `¬ 3` is more than `¬` and `3`."""
    levels: int = 0
    """How many levels of open calls a word's embedding tells apart, as 0, 1, ... or more, or round and round where it
    sees only some frames; the paper's model none."""
    places: int = 0
    """How many places after the last call a word's embedding tells apart, and those beyond; the paper's model none."""
    frames: int = 0
    """How many frames of the stack of calls a word sees, its own and those around it; 0 means all, as in the paper."""
    outermost: bool = False
    """Whether it also sees the outermost frame, where the problem is, if it does not see all."""

    def __post_init__(self) -> None:
        for name in ("vocab_size", "n_layers", "d_model", "n_heads", "context"):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= LARGEST:
                raise ConfigError(f"{name} is {value!r}; a model needs a whole number from 1 to {LARGEST}")
        for name, most in MOST_AROUND.items():
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= most:
                raise ConfigError(f"{name} is {value!r}; a word may know up to {most} of them")
        for name in ("pairs", "outermost"):
            if not isinstance(getattr(self, name), bool):
                raise ConfigError(f"{name} is {getattr(self, name)!r}; it needs to be true or false")
        if self.word_rows > LARGEST:
            raise ConfigError(
                f"{self.recent} words before a word, of {self.vocab_size} in all, are {self.word_rows} rows of a table;"
                f" a model may have {LARGEST}; try fewer, or no pairs"
            )
        if self.d_model % (2 * self.n_heads):
            raise ConfigError(
                f"d_model {self.d_model} does not split into {self.n_heads} heads of even width;"
                f" try {2 * self.n_heads * max(1, self.d_model // (2 * self.n_heads))}"
            )
        if not isinstance(self.rope_base, int | float) or not 1 < self.rope_base <= 1e12:
            raise ConfigError(f"rope_base is {self.rope_base!r}; rotary positions need a number above 1, up to 1e12")

    @property
    def surroundings(self) -> bool:
        """Whether a word knows more than what it is."""
        return bool(self.recent or self.levels or self.places)

    @property
    def word_rows(self) -> int:
        """How many rows tell the words before a word apart."""
        return self.recent * self.vocab_size * (self.vocab_size if self.pairs else 1)

    @property
    def head_width(self) -> int:
        """E, the width of one head."""
        return self.d_model // self.n_heads
