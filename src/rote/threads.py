"""Independent work side by side, on as many threads as torch is given, each with one thread of linear algebra.

torch's own threads wait for each other by spinning: where another process takes one of two cores, a solve of 50,000
facts took more than three times as long on two of them as on one. Work that shares nothing has nothing to wait for.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Generic, TypeVar

ResultT = TypeVar("ResultT")
ItemT = TypeVar("ItemT")

_of_thread = threading.local()


def cpu_time() -> float:
    """CPU seconds of this thread, and of the threads that worked for it."""
    return time.thread_time() + getattr(_of_thread, "helped", 0.0)


class Started(Generic[ResultT]):
    """Work that was handed to a crew."""

    def __init__(self, work: Callable[[], ResultT], pool: ThreadPoolExecutor | None) -> None:
        self._work = work
        self._future: Future[tuple[ResultT, float]] | None = None if pool is None else pool.submit(self._timed)

    def _timed(self) -> tuple[ResultT, float]:
        began = time.thread_time()
        return self._work(), time.thread_time() - began

    def result(self) -> ResultT:
        """What the work gave; a crew of one does it now."""
        if self._future is None:
            return self._work()
        result, seconds = self._future.result()
        _of_thread.helped = getattr(_of_thread, "helped", 0.0) + seconds
        return result

    def cancel(self) -> None:
        """Leave the work out, unless it has begun."""
        if self._future is not None:
            self._future.cancel()


class Crew:
    """Threads that work for this one."""

    def __init__(self, size: int, pool: ThreadPoolExecutor | None) -> None:
        self.size = size
        self._pool = pool

    def start(self, work: Callable[[], ResultT]) -> Started[ResultT]:
        """Hand out work, which begins as soon as a thread is free; a crew of one does it when its result is read."""
        return Started(work, self._pool)

    def in_order(self, work: Callable[[ItemT], ResultT], items: Iterable[ItemT]) -> Iterator[ResultT]:
        """What the work gives for every item, in their order; few results wait at a time."""
        ahead: deque[Started[ResultT]] = deque()
        for item in items:
            ahead.append(self.start(lambda item=item: work(item)))
            if len(ahead) >= (1 if self.size == 1 else 2 * self.size):
                yield ahead.popleft().result()
        while ahead:
            yield ahead.popleft().result()


@contextmanager
def crew() -> Iterator[Crew]:
    """Threads for independent work, as many as torch is given here; meanwhile torch computes on one in each.

    Within another crew of this thread it is that one.
    """
    import torch

    at_work = getattr(_of_thread, "crew", None)
    size = torch.get_num_threads()
    if at_work is not None or size == 1:
        yield at_work or Crew(1, None)
        return
    pool = ThreadPoolExecutor(size, thread_name_prefix="rote-crew")
    _of_thread.crew = Crew(size, pool)
    torch.set_num_threads(1)
    try:
        yield _of_thread.crew
    finally:
        pool.shutdown(cancel_futures=True)
        _of_thread.crew = None
        torch.set_num_threads(size)
