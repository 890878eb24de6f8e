"""Threads of NumPy's and SciPy's linear algebra: one inside, what there was before outside."""

import pytest
from threadpoolctl import ThreadpoolController

from rote.constructions.common.solvers.one_blas_thread import one_blas_thread


def threads() -> set[int]:
    return {pool["num_threads"] for pool in ThreadpoolController().select(user_api="blas").info()}


def test_one_thread_inside_and_what_there_was_outside():
    before = threads()
    with one_blas_thread():
        assert threads() == {1}
    assert threads() == before


def test_threads_come_back_after_an_error():
    before = threads()
    with pytest.raises(KeyError), one_blas_thread():
        raise KeyError
    assert threads() == before
