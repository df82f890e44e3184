"""`pencil export`: a checkpoint in another library's format."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class Target(StrEnum):
    """Formats that can be written."""

    hf = "hf"


def export(
    checkpoint: Annotated[
        str, typer.Argument(metavar="MODEL", help="A run, a checkpoint or a model's name.", show_default=False)
    ],
    out: Annotated[Path, typer.Argument(metavar="OUT", help="A new directory.", show_default=False)],
    to: Annotated[Target, typer.Option(help="hf: Hugging Face transformers.")] = Target.hf,
) -> None:
    """Write a checkpoint for transformers: `AutoModelForCausalLM` and `AutoTokenizer` load it.

    The tokenizer refuses words that the model does not know: it has no token for them.

    \b
    Example:
      pencil export runs/qbf3 --to hf runs/qbf3-hf
    """
    from pencil.model.checkpoint import read
    from pencil.model.hf import export as write
    from pencil.model.pretrained import locate

    write(read(locate(checkpoint)), out)
    print(out)
