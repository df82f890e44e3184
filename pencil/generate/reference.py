"""Generation by its definition: no cache, one row, the whole live sequence read again for each token.

The engine must say the same. This is also what it is measured against.
"""

from collections.abc import Iterator, Sequence

import torch

from pencil.generate.events import Event
from pencil.generate.limits import DEFAULT_LIMITS, Limits
from pencil.generate.row import Row
from pencil.generate.sample import GREEDY, Sampling, pick
from pencil.model.protocol import Model
from pencil.tokens import Marks


def reference(
    model: Model,
    prompt: Sequence[int],
    marks: Marks[int] | None,
    *,
    end: int | None = None,
    sampling: Sampling = GREEDY,
    limits: Limits = DEFAULT_LIMITS,
    index: int = 0,
    scroll: bool = False,
) -> Iterator[Event]:
    """Read, choose, append, reduce; until the end token or a limit (paper, section 2)."""
    row = Row(prompt, marks, end, model.context, sampling, limits, index=index, scroll=scroll)
    yield from row.open()
    while row.stopped is None:
        with torch.no_grad():
            logits = model(torch.tensor([row.context[row.first :]]))  # (1, T, V)
        yield from row.take(*pick(logits[:, -1], [row.sampler]))
