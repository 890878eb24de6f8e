"""Threads of NumPy's and SciPy's linear algebra.

It has a pool of threads of its own, and so has torch. Where a solve goes to and fro between them, each pool waits by
spinning on the cores that the other one needs, and products of a few hundred rows are too small to share out in any
case: ten thousand facts stored by blocks took six times as long on two threads as on one. So linear algebra keeps to
one thread, but for factorisations that are large enough to gain from more.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from threadpoolctl import ThreadpoolController

LARGE = 1_500
"""Order from which a factorisation is shared out."""


@contextmanager
def blas_threads(order: int = 0) -> Iterator[None]:
    """One thread for matrices up to this order; as many as there were at first for large ones."""
    controller, usual = _pools()
    with controller.limit(limits=usual if order >= LARGE else 1, user_api="blas"):
        yield


@cache
def _pools() -> tuple[ThreadpoolController, int]:
    """The pools in this process and how many threads they have before anything is limited."""
    # Loading them makes them known to the controller.
    import numpy.linalg  # noqa: F401
    import scipy.linalg  # noqa: F401

    controller = ThreadpoolController()
    return controller, max((pool["num_threads"] for pool in controller.select(user_api="blas").info()), default=1)
