"""Custom closed operators: functions on expressions with a signature and a name (paper, appendix "Custom Operators").

>>> from pencil.theory.fasp.expr import seq_len
>>> @operator("int[d], int[d] -> int[d]")
... def twice_the_sum(a, b):
...     return 2 * (a + b)
>>> twice_the_sum(seq_len, 1)
twice_the_sum(n, 1): int
"""

from collections.abc import Callable
from functools import update_wrapper

from pencil.theory.fasp.expr import Choice, Expr, Operand, Operator, as_expr, constant, mismatch
from pencil.theory.fasp.types import Signature, Type


def operator(
    signature: str, *, name: str = "", choice: Choice | None = None
) -> Callable[[Callable[..., Expr]], Callable[..., Expr]]:
    """Make a function on expressions a custom closed operator: types are checked, and its name is kept.

    Plain numbers among the arguments become constants of the dimension that the other arguments have.
    """
    parsed = Signature.parse(signature)

    def wrap(define: Callable[..., Expr]) -> Callable[..., Expr]:
        called = name or define.__name__

        def apply(*arguments: Operand) -> Expr:
            bound = parsed.bind([_loose_type(argument) for argument in arguments])
            if bound is None:
                return mismatch(called, parsed, tuple(map(as_expr, arguments)))
            result, dims = bound
            expressions = tuple(map(as_expr, arguments, dims))
            body = define(*expressions)
            return Operator(Type(result.kind, result.dim or body.dim), called, expressions, body, choice)

        return update_wrapper(apply, define)

    return wrap


def _loose_type(operand: Operand) -> Type:
    return operand.type if isinstance(operand, Expr) else Type(constant(operand).type.kind, None)
