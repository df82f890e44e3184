"""Writing files and directories such that a crash leaves the old one or the new one, never half of it."""

import os
import shutil
from pathlib import Path


def write_atomically(path: Path, text: str) -> None:
    """Replace a file's text: written beside it, flushed to disk, then renamed; of two processes, the last one wins."""
    unfinished = path.with_name(f"{path.name}.{os.getpid()}.partial")
    try:
        unfinished.write_text(text, encoding="utf-8")
        sync(unfinished)
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
    sync(path.parent)


def replace_directory(directory: Path) -> None:
    """Put what was written `beside` a directory, as `new`, in its place."""
    new, old = beside(directory, "new"), beside(directory, "old")
    if directory.exists():
        shutil.rmtree(old, ignore_errors=True)
        directory.rename(old)
    new.rename(directory)
    shutil.rmtree(old, ignore_errors=True)
    sync(directory.parent)


def survivor(directory: Path) -> Path:
    """The directory; or the old one, if its replacement was cut off between the two renames."""
    old = beside(directory, "old") if directory.name else directory
    return old if old.exists() and not directory.exists() else directory


def beside(directory: Path, kind: str) -> Path:
    """Where a `new` directory is written, and where an `old` one is kept meanwhile."""
    return directory.with_name(f".{directory.name}.{kind}")


def failure(error: OSError, path: Path) -> str:
    """Where something failed that was to be done at a path, and why."""
    return f"{error.filename or path}: found {error.strerror or error}"


def sync(path: Path) -> None:
    """Have a file, or the names in a directory, on disk before going on."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
