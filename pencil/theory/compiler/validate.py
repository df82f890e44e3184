"""Validation: what a program must satisfy, beyond its types, to become weights."""

from collections.abc import Iterator

from pencil.theory.fasp.expr import Constant, Expr, Linear, Number, Token
from pencil.theory.fasp.program import Program
from pencil.theory.fasp.types import FaspError


def validate(program: Program) -> None:
    """Raise every reason why a program cannot become weights; types were checked when it was built."""
    problems = [problem for expression in program.expressions for problem in _problems(expression)]
    if problems:
        raise FaspError(dict.fromkeys(problems))


def _problems(expression: Expr) -> Iterator[str]:
    for number in _numbers(expression):
        if float(number) != number:  # Python compares the two exactly
            yield f"the weight {number} of {expression!r} is not a number that a float holds exactly"


def _numbers(expression: Expr) -> Iterator[Number]:
    if isinstance(expression, Token):
        yield from (number for row in expression.rows.values() for number in row)
        yield from expression.default or ()
    elif isinstance(expression, Constant):
        yield from expression.values
    elif isinstance(expression, Linear):
        yield from (factor for row in expression.matrix for _, factor in row)
