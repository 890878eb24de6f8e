"""Setting of the C library: freed memory is kept for the next step instead of being returned to the system.

A training step allocates and frees the same tensors over and over. By default the C library returns memory at the end
of its heap at once, and every page of the next step's tensors is mapped and cleared again. That is a third of a step of
`rote.lm_capacity` at 20,000 parameters.
"""

from __future__ import annotations

import ctypes
import platform
from functools import cache

TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3
"""The two settings, as in the C library's `malloc.h`."""
KEPT = 2**31 - 1
"""Bytes at the end of the heap that are not returned: the largest possible value."""
LARGEST = 2**25
"""Bytes of the largest allocation from the heap: the largest value that the C library allows."""


@cache
def keep_freed_memory() -> bool:
    """Keep freed memory in this process from now on; True if the C library is GNU's and accepts the setting."""
    if platform.libc_ver()[0] != "glibc":
        return False
    library = ctypes.CDLL(None)
    return bool(library.mallopt(MMAP_THRESHOLD, LARGEST)) and bool(library.mallopt(TRIM_THRESHOLD, KEPT))
