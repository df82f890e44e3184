"""What a step frees stays with the process, for the next step; and nobody looks for garbage where there is none."""

import ctypes
import gc
import platform
from collections.abc import Iterator
from contextlib import contextmanager

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3
"""Names of settings in glibc's malloc.h."""


def keep_freed_memory() -> bool:
    """Whether malloc could be told not to give memory back; only glibc has a way to say so.

    Otherwise it returns the activations of every step to the system, which hands them out again page by page: 3 % of a
    step with 0.8M parameters, more than 10 % with 10.6M.
    """
    if platform.libc_ver()[0] != "glibc":
        return False
    libc = ctypes.CDLL(None)
    return all(libc.mallopt(setting, 2**30) == 1 for setting in (M_TRIM_THRESHOLD, M_MMAP_THRESHOLD))


@contextmanager
def garbage_left_alone() -> Iterator[None]:
    """While many small objects are made, do not look again and again for cycles among them.

    The hints of a SAT trace have none, and looking for them took more time than making them.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
