"""A FASP program: an alphabet, named values, and the variant of the language it is written in.

>>> from pencil.theory.fasp.expr import token
>>> from pencil.theory.fasp.library import seq_sum
>>> depth = seq_sum(token({"(": 1, ")": -1}))
>>> Program("()", {"depth": depth, "balanced": depth >= 0})
FASP[n; ReLU, x] over ( )
  depth     int   seq_sum(token((: 1, ): -1))
  balanced  bool  geq(depth, 0)
"""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from pencil.theory.fasp.expr import (
    Activate,
    Activation,
    Broken,
    Expr,
    Position,
    PositionKind,
    Token,
    topological,
)
from pencil.theory.fasp.types import FaspError


@dataclass(frozen=True)
class Variant:
    """FASP[position; activations]: which positional embedding and which activation functions a program may use."""

    position: PositionKind
    activations: tuple[Activation, ...]

    def __str__(self) -> str:
        return f"FASP[{self.position.value}; {', '.join(activation.value for activation in self.activations)}]"


_RELU_TIMES = (Activation.RELU, Activation.TIMES)
FASP_0_RELU = Variant(PositionKind.NONE, (Activation.RELU,))
FASP_0 = Variant(PositionKind.NONE, _RELU_TIMES)
FASP_FIRST = Variant(PositionKind.IS_FIRST, _RELU_TIMES)
FASP_N = Variant(PositionKind.N, _RELU_TIMES)
FASP_N_REGLU = Variant(PositionKind.N, (Activation.REGLU,))
"""The four special cases of the paper, from less to more expressive, and the last one with ReGLU in place of both."""


@dataclass(frozen=True, repr=False)
class Program:
    """Named values in order; the last one is the result. An ill-formed program raises all of its problems at once."""

    alphabet: Sequence[Hashable]
    values: Mapping[str, Expr]
    variant: Variant = FASP_N

    def __post_init__(self) -> None:
        problems = list(dict.fromkeys(self._problems()))
        if problems:
            raise FaspError(problems)

    @property
    def result(self) -> Expr:
        """The last value."""
        return list(self.values.values())[-1]

    @property
    def predicts_tokens(self) -> bool:
        """Whether the result has a coordinate for each token, so that its largest one is the next token."""
        return self.result.dim == len(self.alphabet)

    @cached_property
    def expressions(self) -> list[Expr]:
        """Every expression of the program, children first."""
        return topological(list(self.values.values()))

    def __repr__(self) -> str:
        from pencil.theory.fasp.show import listing

        return listing(self)

    def _problems(self) -> Iterator[str]:
        if not self.values:
            yield "a program needs at least one value"
        if len(set(self.alphabet)) != len(self.alphabet):
            yield f"the alphabet {' '.join(map(str, self.alphabet))} lists a token twice"
        for expression in self.expressions:
            yield from self._problems_of(expression)

    def _problems_of(self, expression: Expr) -> Iterator[str]:
        if isinstance(expression, Broken):
            yield expression.problem
        elif isinstance(expression, Token) and expression.default is None:
            missing = [str(word) for word in self.alphabet if word not in expression.rows]
            if missing:
                yield f"token has no value for {' '.join(missing)} and no default"
        elif isinstance(expression, Position) and expression.feature is not self.variant.position:
            yield f"the position {expression.feature.value} is used, which {self.variant} does not have"
        elif isinstance(expression, Activate) and expression.activation not in self.variant.activations:
            yield f"the activation {expression.activation.value} is used, which {self.variant} does not have"
