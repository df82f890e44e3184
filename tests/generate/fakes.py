"""Models that are not transformers, with the same call shape: one says a script, one hashes what it has read."""

import zlib
from collections.abc import Iterable, Iterator, Sequence

import torch
from torch import Tensor

from pencil.model.decode import CachedDecoder
from pencil.model.protocol import Decoder
from pencil.model.transformer import ModelConfig, Transformer
from pencil.tokens import Marks

CALL, SEP, RET, END = 0, 1, 2, 3
MARKS = Marks(CALL, SEP, RET)
V = 10


EYE = torch.eye(V)


def one_hot(tokens: Sequence[int]) -> Tensor:
    return EYE[tokens]


class Scripted:
    """Says exactly this, whatever it reads; in a decoder, a row says the script that its first token numbers."""

    context = 2048
    vocab_size = 256

    def __init__(self, *scripts: Iterable[int]) -> None:
        self.scripts = scripts
        self.spoken: Iterator[int] | None = None

    def __call__(self, tokens: Tensor) -> Tensor:
        self.spoken = self.spoken or iter(self.scripts[0])
        return one_hot([next(self.spoken)]).view(1, 1, V)

    def decoder(self) -> "ScriptedDecoder":
        return ScriptedDecoder(self.scripts)


class ScriptedDecoder:
    def __init__(self, scripts: Sequence[Iterable[int]]) -> None:
        self.scripts = scripts
        self.rows: dict[int, Iterator[int]] = {}

    def feed(self, rows: Sequence[int], tokens: Sequence[Sequence[int]]) -> Tensor:
        for row, fed in zip(rows, tokens, strict=True):
            if row not in self.rows:
                self.rows[row] = iter(self.scripts[fed[0] % len(self.scripts)])
        return one_hot([next(self.rows[row]) for row in rows])

    def rewind(self, row: int, length: int) -> None:
        pass

    def drop(self, row: int) -> None:
        del self.rows[row]


class Hashed:
    """A function of all that it reads, down to the last token: any slip in what is fed changes what it says."""

    vocab_size = 256

    def __init__(
        self,
        seed: int = 0,
        context: int = 64,
        says: Sequence[int] = (CALL, CALL, SEP, SEP, RET, RET, 4, 5),
        reads: int | None = None,
    ) -> None:
        self.seed, self.context, self.says = seed, context, says
        self.reads = reads  # only so many of the last tokens matter, so that it repeats itself
        self.decoders: list[HashedDecoder] = []

    def next(self, tokens: Sequence[int]) -> int:
        assert 0 < len(tokens) <= self.context
        read = tokens[-self.reads :] if self.reads else tokens
        return self.says[zlib.crc32(bytes([self.seed % 256, *read])) % len(self.says)]

    def __call__(self, tokens: Tensor) -> Tensor:
        return one_hot([self.next(tokens[0].tolist())]).view(1, 1, V)

    def decoder(self) -> "HashedDecoder":
        self.decoders.append(HashedDecoder(self))
        return self.decoders[-1]


class HashedDecoder:
    """Remembers rows as lists of tokens, and counts what it was fed."""

    def __init__(self, model: Hashed) -> None:
        self.model = model
        self.rows: dict[int, list[int]] = {}
        self.fed: list[int] = []
        self.guessed = 0

    def feed(self, rows: Sequence[int], tokens: Sequence[Sequence[int]]) -> Tensor:
        return self.feed_guesses(rows, tokens, [()] * len(rows))

    def feed_guesses(
        self, rows: Sequence[int], tokens: Sequence[Sequence[int]], guesses: Sequence[Sequence[int]]
    ) -> Tensor:
        said = []
        for row, own, guess in zip(rows, tokens, guesses, strict=True):
            assert own, "a row is fed one token at least"
            held = self.rows.setdefault(row, [])
            held.extend(own)
            said.append(self.model.next(held))
            for token in guess:
                held.append(token)
                said.append(self.model.next(held))
            self.fed.extend(own)
            self.guessed += len(guess)
        return one_hot(said)

    def rewind(self, row: int, length: int) -> None:
        assert length <= len(self.rows[row])
        del self.rows[row][length:]

    def drop(self, row: int) -> None:
        del self.rows[row]


class Recorder(Scripted):
    """Says a script and notes what its decoder is told."""

    def __init__(self, script: Iterable[int]) -> None:
        super().__init__(script)
        self.told: list[tuple[str, int, object]] = []

    def decoder(self) -> "RecordingDecoder":
        return RecordingDecoder(self)


class RecordingDecoder(ScriptedDecoder):
    def __init__(self, model: Recorder) -> None:
        super().__init__(model.scripts)
        self.told = model.told

    def feed(self, rows: Sequence[int], tokens: Sequence[Sequence[int]]) -> Tensor:
        self.told += [("feed", row, list(fed)) for row, fed in zip(rows, tokens, strict=True)]
        return super().feed(rows, tokens)

    def rewind(self, row: int, length: int) -> None:
        self.told.append(("rewind", row, length))

    def drop(self, row: int) -> None:
        self.told.append(("drop", row, None))
        super().drop(row)


class Ventriloquist(Transformer):
    """A transformer with its real cache, whose logits a script replaces, word by word: nothing can be guessed."""

    def __init__(self, script: Iterable[int]) -> None:
        super().__init__(ModelConfig(V, n_layers=1, d_model=8, n_heads=1))
        self.script = script
        self.decoders: list[CachedDecoder] = []

    def logits(self, hidden: Tensor) -> Tensor:
        return one_hot([next(self.spoken)])

    def decoder(self) -> Decoder:  # type: ignore[override]
        self.spoken = iter(self.script)
        self.decoders.append(super().decoder())
        return Unguessing(self.decoders[-1])


class Unguessing:
    """A decoder without what the engine needs for guesses."""

    def __init__(self, inner: Decoder) -> None:
        self.feed, self.rewind, self.drop = inner.feed, inner.rewind, inner.drop
