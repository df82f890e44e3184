"""Decompiling: any transformer of this class back to a FASP program (the other half of the equivalence theorem).

Each layer becomes the paper's proof, line by line: attention on linear projections, its outputs projected and added to
the stream, then ReGLU units, projected and added again.
"""

from pencil.theory.fasp.expr import (
    Activation,
    Expr,
    Position,
    PositionKind,
    activate,
    aha,
    as_expr,
    combine,
    is_first,
    linear,
    seq_len,
    token,
)
from pencil.theory.fasp.program import Program, Variant
from pencil.theory.weights import HeadWeights, LayerWeights, Matrix, Weights

_FEATURES: dict[PositionKind, Position] = {PositionKind.IS_FIRST: is_first, PositionKind.N: seq_len}


def decompile(weights: Weights) -> Program:
    """A program whose result is the transformer's output; `stream_l` is the residual stream after layer l."""
    values = {"stream_0": _embedding(weights)}
    stream = values["stream_0"]
    for index, layer in enumerate(weights.layers, start=1):
        stream = values[f"stream_{index}"] = _layer(layer, stream)
    values["output"] = _project(weights.output, stream)
    return Program(weights.alphabet, values, Variant(weights.position, (Activation.REGLU,)))


def _embedding(weights: Weights) -> Expr:
    rows = {word: row.tolist() for word, row in zip(weights.alphabet, weights.token, strict=True)}
    feature = _FEATURES.get(weights.position, as_expr(0))
    return combine([(1, token(rows)), (1, _project(weights.place[:, None], feature))])


def _layer(layer: LayerWeights, stream: Expr) -> Expr:
    attended = _sum([stream, *(_head(head, stream) for head in layer.heads)])
    if not len(layer.gate):
        return attended
    units = activate(Activation.REGLU, _project(layer.value, attended), _project(layer.gate, attended))
    return _sum([attended, _project(layer.out, units)])


def _head(head: HeadWeights, stream: Expr) -> Expr:
    query, key, value = (_project(matrix, stream) for matrix in (head.query, head.key, head.value))
    return _project(head.out, aha(query, key, value))


def _project(matrix: Matrix, expression: Expr) -> Expr:
    """A linear map as sparse rows."""
    return linear([[(int(i), float(row[i])) for i in row.nonzero()[0]] for row in matrix], expression)


def _sum(terms: list[Expr]) -> Expr:
    return combine([(1, term) for term in terms])
