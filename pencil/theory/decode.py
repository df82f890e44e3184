"""Fast decoding of a transformer's weights: exact numbers, sparse sums, and heads that keep running state.

`pencil.theory.plan` reads off the matrices what each head has to remember. The cost of a token does not depend on the
length of the context, except for heads of the kind `Grouped` with many different keys. The tokens are those of the
plain path, which computes the same function in floating point; here no length is too long.
"""

from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Any

from pencil.rule import Context
from pencil.theory.plan import Plan, Stage, Stream
from pencil.theory.running import Number
from pencil.theory.weights import Weights
from pencil.tokens import Marks

_MEMO = 1 << 16  # outcomes of the last feed-forward that are remembered


class RunningDecoder:
    """Reads tokens by their index and predicts the next one; restart it to read another context."""

    def __init__(self, weights: Weights) -> None:
        self._plan = plan = Plan(weights)
        self._stages = plan.stages()
        self._prefix_stages = plan.stages(prefix=True)
        self._outputs = plan.outputs()
        self._last_inputs = plan.last_inputs()
        self._memo: dict[Any, int] = {}
        self.length = 0

    def restart(self) -> None:
        """Forget the context."""
        self.length = 0
        self._plan.forget()

    def next_token(self, tokens: Iterable[int]) -> int:
        """Read one token or more; the index of the largest output, which is the next token."""
        stream = self._read(tokens)
        inputs = self._last_inputs(stream)
        found = self._memo.get(inputs)
        if found is None:
            outputs = self._finish(stream)
            if len(self._memo) > _MEMO:
                self._memo.clear()
            found = self._memo[inputs] = outputs.index(max(outputs))
        return found

    def outputs(self, tokens: Iterable[int]) -> list[Number]:
        """Read one token or more; all outputs at the last."""
        return self._finish(self._read(tokens))

    def _read(self, tokens: Iterable[int]) -> Stream:
        """The last token's stream before the last feed-forward; tokens before it only leave their keys and values."""
        *before, last = tokens
        for token in before:
            self._run(token, self._prefix_stages)
        return self._run(last, self._stages)

    def _run(self, token: int, stages: Sequence[Stage]) -> Stream:
        self.length = position = self.length + 1
        stream = self._plan.embedding[token].copy()
        for coordinate, feature in self._plan.place:
            stream[coordinate] += feature(position)
        last = stages[-1] if stages else None
        for stage in stages:
            for step in stage.steps:
                step(stream, stream, position)
            if stage is last:
                break
            if stage.in_place:
                for coordinate, amount in stage.writes:
                    stream[coordinate] = amount(stream)
            else:
                stage.feed_forward(stream)
        return stream

    def _finish(self, stream: Stream) -> list[Number]:
        for stage in self._stages[-1:]:
            stage.feed_forward(stream)
        return [function(stream) for function in self._outputs]


def generate(
    weights: Weights, prompt: Sequence[Hashable], marks: Marks[Any], *, scroll: bool = False
) -> Iterator[Hashable]:
    """Greedy generation under the reduction rule, without end: stop reading when the model has said what you want."""
    decoder, words = RunningDecoder(weights), weights.alphabet
    indices = {word: index for index, word in enumerate(words)}
    context = Context(prompt, marks, scroll=scroll)
    unread: Iterable[Hashable] = prompt
    while True:
        word = words[decoder.next_token([indices[token] for token in unread])]
        yield word
        unread = (word,)
        if context.append(word) is not None:
            decoder.restart()
            unread = context
