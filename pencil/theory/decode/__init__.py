"""Decoding compiled weights at a cost per token that does not grow with the context."""

from pencil.theory.decode.decoder import RunningDecoder, generate

__all__ = ["RunningDecoder", "generate"]
