"""Threads of NumPy's and SciPy's linear algebra.

It has a pool of threads of its own, and so has torch. Where work goes to and fro between them, each pool waits by
spinning on the cores that the other one needs: ten thousand facts stored by blocks took six times as long on two
threads as on one. What is large is factorised by torch (see `lu`), so the other pool keeps to one thread.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from threadpoolctl import ThreadpoolController


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Keep NumPy's and SciPy's linear algebra to one thread."""
    with _pools().limit(limits=1, user_api="blas"):
        yield


@cache
def _pools() -> ThreadpoolController:
    """The pools in this process."""
    # Loading them makes them known to the controller.
    import numpy.linalg  # noqa: F401
    import scipy.linalg  # noqa: F401

    return ThreadpoolController()
