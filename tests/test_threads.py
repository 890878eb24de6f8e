"""Work side by side gives what one thread gives, in order, and counts its CPU time."""

from __future__ import annotations

import threading
import time

import pytest
import torch

from rote.threads import cpu_time, crew


@pytest.fixture(params=[1, 2])
def threads(request):
    before = torch.get_num_threads()
    torch.set_num_threads(request.param)
    yield request.param
    torch.set_num_threads(before)


def test_results_come_in_the_order_of_the_items(threads):
    def slow_first(item: int) -> int:
        time.sleep(0.05 if item == 0 else 0)
        return item * item

    with crew() as workers:
        assert workers.size == threads
        assert list(workers.in_order(slow_first, range(20))) == [item * item for item in range(20)]
    assert torch.get_num_threads() == threads


def test_torch_keeps_to_one_thread_in_each_and_gets_its_threads_back(threads):
    with crew() as workers:
        assert torch.get_num_threads() == 1
        assert set(workers.in_order(lambda _: torch.get_num_threads(), range(8))) == {1}
        with crew() as inner:
            assert inner.size == threads
    assert torch.get_num_threads() == threads


def test_an_error_of_a_worker_is_raised_and_leaves_torch_its_threads(threads):
    def fail(_: int) -> None:
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"), crew() as workers:
        list(workers.in_order(fail, range(3)))
    assert torch.get_num_threads() == threads


def test_cpu_time_includes_the_threads_that_worked(threads):
    def spin(_: int) -> int:
        began = time.thread_time()
        while time.thread_time() - began < 0.05:
            pass
        return threading.get_ident()

    before = cpu_time()
    with crew() as workers:
        idents = set(workers.in_order(spin, range(4)))
    assert cpu_time() - before >= 0.2
    assert (threading.get_ident() in idents) == (threads == 1)


def test_cancelled_work_is_left_out():
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    done = []
    with crew() as workers:
        for _ in range(2):
            workers.start(lambda: time.sleep(0.2))
        workers.start(lambda: done.append(1)).cancel()
    torch.set_num_threads(before)
    assert done == []
