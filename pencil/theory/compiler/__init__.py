"""The compiler: a FASP program becomes the weights of a transformer that computes the same function.

validate -> lower -> place -> assemble. `precision` says up to which length a floating-point type is exact.
"""

from dataclasses import dataclass
from typing import Literal

from pencil.theory.compiler.assemble import assemble
from pencil.theory.compiler.graph import Form, Graph
from pencil.theory.compiler.lower import lower
from pencil.theory.compiler.place import place
from pencil.theory.compiler.precision import exact_length
from pencil.theory.compiler.validate import validate
from pencil.theory.fasp.program import Program
from pencil.theory.weights import Weights

__all__ = ["Compiled", "DType", "compile_program"]

DType = Literal["float64", "float32"]
_BITS: dict[DType, int] = {"float64": 53, "float32": 24}


@dataclass(frozen=True)
class Compiled:
    """A program's weights, and what is needed to say how far floating point computes them exactly."""

    weights: Weights
    graph: Graph
    result: tuple[Form, ...]

    def exact_length(self, dtype: DType = "float64") -> int:
        """The longest context for which a floating-point type is proven exact; see `compiler.precision`."""
        return exact_length(self.graph, self.result, _BITS[dtype])


def compile_program(program: Program, *, fold: bool = True) -> Compiled:
    """The weights of a transformer that computes a program's result (paper, theorem "FASP equals transformers").

    `fold=False` keeps every definition as it is written: more layers, the same function.
    """
    validate(program)
    graph, result = lower(program, fold=fold)
    weights = assemble(graph, result, place(graph, result), program.alphabet, program.variant.position)
    return Compiled(weights, graph, tuple(result))
