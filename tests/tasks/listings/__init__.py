"""The listings of the paper's three appendices, a file each: `sat_cot_prompt`, `qbf_generation_01` and so on."""

from pathlib import Path


def listing(name: str) -> str:
    """The text of a listing, as printed."""
    path = Path(__file__).parent / f"{name}.txt"
    return path.read_text(encoding="utf-8").removesuffix("\n")
