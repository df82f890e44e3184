"""FASP, the paper's language for constant-depth transformers: expressions, types, an interpreter and drawings."""

from pencil.theory.fasp.expr import Expr, aha, concat, constant, is_first, linear, seq_len, token
from pencil.theory.fasp.interpret import Run, Value, interpret
from pencil.theory.fasp.program import (
    FASP_0,
    FASP_0_RELU,
    FASP_FIRST,
    FASP_N,
    FASP_N_REGLU,
    Program,
    Variant,
)
from pencil.theory.fasp.types import FaspError, Kind, Type

__all__ = [
    "FASP_0",
    "FASP_0_RELU",
    "FASP_FIRST",
    "FASP_N",
    "FASP_N_REGLU",
    "Expr",
    "FaspError",
    "Kind",
    "Program",
    "Run",
    "Type",
    "Value",
    "Variant",
    "aha",
    "concat",
    "constant",
    "interpret",
    "is_first",
    "linear",
    "seq_len",
    "token",
]
