"""Freed memory is kept for the next step instead of being given back to the system.

A step of training allocates and frees the same tensors over and over. By default the C library gives what is freed at
the end of its heap back at once, and every page of the next step's tensors has to be mapped and cleared anew: a third
of a step of the meter at 20,000 parameters.
"""

from __future__ import annotations

import ctypes
import platform
from functools import cache

TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3
"""Names of the two settings in the C library's `malloc.h`."""
KEPT = 2**31 - 1
"""Bytes at the end of the heap that are not given back: all that the setting can say."""
LARGEST = 2**25
"""Bytes of the largest block that is taken from the heap: all that the C library allows."""


@cache
def keep_freed_memory() -> bool:
    """Whether freed memory is kept from now on, in this process; only the GNU C library is asked to."""
    if platform.libc_ver()[0] != "glibc":
        return False
    library = ctypes.CDLL(None)
    return bool(library.mallopt(MMAP_THRESHOLD, LARGEST)) and bool(library.mallopt(TRIM_THRESHOLD, KEPT))
