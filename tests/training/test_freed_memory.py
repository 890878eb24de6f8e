"""Freed memory is kept: the same tensors again cost no new pages."""

import subprocess
import sys

import pytest

from rote.training.freed_memory import keep_freed_memory

COUNT = """
import resource, torch
from rote.training.freed_memory import keep_freed_memory
if {kept}:
    keep_freed_memory()
def step():
    tensors = [torch.ones(2**20) for _ in range(8)]
step(), step()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(5):
    step()
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def pages(kept):
    script = COUNT.format(kept=kept)
    return int(subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True).stdout)


@pytest.mark.skipif(not keep_freed_memory(), reason="only the GNU C library can be asked to keep freed memory")
def test_a_step_that_is_repeated_needs_no_new_pages():
    assert pages(kept=True) < 100 < pages(kept=False)
