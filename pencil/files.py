"""Writing files such that a crash leaves the old one or the new one, never half of it."""

import os
from pathlib import Path


def write_atomically(path: Path, text: str) -> None:
    """Replace a file's text: written beside it, flushed to disk, then renamed."""
    unfinished = path.with_name(path.name + ".partial")
    unfinished.write_text(text, encoding="utf-8")
    sync(unfinished)
    unfinished.replace(path)
    sync(path.parent)


def sync(path: Path) -> None:
    """Have a file, or the names in a directory, on disk before going on."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
