import gc
import subprocess
import sys

import pytest

from pencil.train.memory import garbage_left_alone

STEPS = """
import resource, sys, torch
from pencil.train.memory import keep_freed_memory
if sys.argv[1] == "keep" and not keep_freed_memory():
    sys.exit("not glibc")
def step():
    tensors = [torch.ones(2**20 * size) for size in (1, 3, 9, 27)]  # 4 to 108 MB
step()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(3):
    step()
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def page_faults(mode: str) -> int:
    found = subprocess.run([sys.executable, "-c", STEPS, mode], capture_output=True, text=True, check=False)
    if "not glibc" in found.stderr:
        pytest.skip("not glibc")
    return int(found.stdout)


def test_kept_memory_is_not_asked_for_again() -> None:
    assert page_faults("keep") < 0.5 * page_faults("give back")  # not none: a system may reclaim pages by itself


def test_garbage_is_left_alone_only_for_a_while() -> None:
    with garbage_left_alone():
        assert not gc.isenabled()
        with garbage_left_alone():
            pass
        assert not gc.isenabled()  # as it was
    assert gc.isenabled()
