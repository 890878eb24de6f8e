"""Threads of NumPy's and SciPy's linear algebra: one inside, what there was before outside."""

from threadpoolctl import ThreadpoolController

from rote.constructions.parts.solvers.blas_threads import LARGE, _pools, blas_threads


def threads() -> set[int]:
    return {pool["num_threads"] for pool in ThreadpoolController().select(user_api="blas").info()}


def test_one_thread_but_for_large_orders():
    usual = _pools()[1]
    before = threads()
    with blas_threads():
        assert threads() == {1}
        with blas_threads(LARGE):
            assert max(threads()) == usual
        assert threads() == {1}
    assert threads() == before


def test_threads_come_back_after_an_error():
    before = threads()
    try:
        with blas_threads():
            raise KeyError
    except KeyError:
        pass
    assert threads() == before
