"""Reading tokens one by one, and generating under the reduction rule.

The cost of a token does not depend on the length of the context, except for heads of the kind `Grouped` with many
different keys. Numbers are exact, so no length is too long; the tokens are those of the plain path, which computes the
same function in floating point.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from operator import itemgetter
from typing import Any

from pencil.rule import Context
from pencil.theory.decode.heads import Number
from pencil.theory.decode.plan import Plan
from pencil.theory.decode.stages import Stage, Stages, Stream, function
from pencil.theory.weights import Weights
from pencil.tokens import Marks

_MEMO = 1 << 16  # outcomes of the last feed-forward that are remembered


class RunningDecoder:
    """Reads tokens by their index and predicts the next one; restart it to read another context."""

    def __init__(self, weights: Weights) -> None:
        plan = Plan(weights)
        self._sparse = plan.sparse
        self._built = Stages(plan)
        self._stages = self._built.build()
        self._prefix_stages = self._built.build(prefix=True)
        self._outputs = [function(row) for row in plan.sparse.output]
        inputs = plan.last_inputs()
        self._last_inputs: Callable[[Stream], Any] = itemgetter(*inputs) if inputs else lambda stream: None
        self._memo: dict[Any, int] = {}
        self.length = 0

    def restart(self) -> None:
        """Forget the context."""
        self.length = 0
        self._built.forget()

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
        stream = self._sparse.embedding[token].copy()
        for coordinate, feature in self._sparse.place:
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
        return [output(stream) for output in self._outputs]


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
