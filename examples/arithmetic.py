"""A task of your own in one short file: nested arithmetic such as `( 3 + 4 ) * ( 2 + 5 )`.

python -m examples.arithmetic '( 3 + 4 ) * ( 2 + 5 )'
"""

import ast
import operator
import sys
from collections.abc import Sequence
from random import Random
from typing import Any

from pencil import ParseError, Task, TraceWriter, VocabError
from pencil.tokens import END, SPECIAL_WORDS, join, split

OPERATORS: Any = {ast.Add: ("+", operator.add), ast.Sub: ("-", operator.sub), ast.Mult: ("*", operator.mul)}


class Arithmetic(Task[str]):
    """Evaluate an expression, a string without spaces; its size is how deep it nests. Each character is a word."""

    name = "arithmetic"
    sizes = range(1, 6)
    default_size = 2
    words = tuple("0123456789+-*()")

    def sample(self, rng: Random) -> str:
        return _grow(rng, self.size)[1:-1]

    def question(self, instance: str) -> list[str]:
        return list(instance)

    def reason(self, instance: str, write: TraceWriter) -> None:
        _evaluate(ast.parse(instance, mode="eval").body, write)

    def answer(self, response: Sequence[str]) -> str | None:
        return "".join(word for word in response if word != END) or None

    def parse(self, text: str) -> str:
        expression = "".join(word for word in split(text) if word not in SPECIAL_WORDS)
        try:
            self.vocab.encode(list(expression))
            self.reason(expression, TraceWriter())
        except (VocabError, SyntaxError, ValueError):
            raise ParseError("expression", expression, "numbers and + - * such as ( 3 + 4 ) * 2") from None
        return expression


def _grow(rng: Random, depth: int) -> str:
    if depth == 0:
        return str(rng.randint(0, 9))
    left, right = rng.sample([_grow(rng, depth - 1), _grow(rng, rng.randrange(depth))], 2)
    return f"({left}{rng.choice('+-*')}{right})"


def _evaluate(node: ast.expr, write: TraceWriter) -> int:
    """The value of an expression; writing the trace is evaluating it."""
    match node:
        case ast.Constant(value=int(value)):
            write(*str(value))
        case ast.BinOp(left, op, right) if type(op) in OPERATORS:
            sign, apply = OPERATORS[type(op)]
            with write.call():
                first = _evaluate(left, write)
                write(sign)
                value = apply(first, _evaluate(right, write))
                write.answer(*str(value))
        case _:
            raise ValueError(f"not a number or an operation: {ast.dump(node)}")
    return value


if __name__ == "__main__":
    try:
        task = Arithmetic()
        for step in task.trace(task.parse(" ".join(sys.argv[1:]))).steps():
            print(step.reduction or join(step.after))
    except ParseError as error:
        sys.exit(str(error))
