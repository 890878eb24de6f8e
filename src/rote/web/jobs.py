"""Work that takes longer than an answer may: one thread does it in turn and reports its progress.

A page requests a result by a key: it is ready, in progress, or rejected because too much is waiting.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from rote.errors import RoteError
from rote.progress import Progress, Stage

MOST_WAITING = 8
MOST_KEPT = 24
"""Results that are kept; the oldest are dropped."""


class Busy(RoteError):
    """Too much is being computed already."""


class JobProgress(Progress):
    """Keeps reported progress for a page to show."""

    def __init__(self) -> None:
        self.description, self.done, self.total = "waiting", 0, 0

    @contextmanager
    def stage(self, description: str, total: int | None = None) -> Iterator[Stage]:
        self.description, self.done, self.total = description, 0, total or 0
        yield self

    def advance(self, steps: int = 1) -> None:
        self.done += steps

    def describe(self, text: str) -> None:
        self.description = text


@dataclass
class Job:
    """Something that is being computed, or was."""

    future: Future[Any]
    progress: JobProgress = field(default_factory=JobProgress)

    @property
    def ready(self) -> bool:
        return self.future.done()

    @property
    def result(self) -> Any:
        """The result; raises the job's error."""
        return self.future.result()


class Jobs:
    """A queue with one worker, and the results of the last few jobs."""

    def __init__(self, kept: int = MOST_KEPT) -> None:
        self._kept = kept
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="rote-job")
        self._jobs: OrderedDict[Hashable, Job] = OrderedDict()
        self._lock = threading.Lock()

    def ask(self, key: Hashable, work: Callable[[Progress], Any], wait: float = 0.0) -> Job:
        """The job of this key, started if there is none; waits at most this many seconds for it."""
        with self._lock:
            job = self._jobs.get(key)
            if job is None:
                if sum(not job.ready for job in self._jobs.values()) >= MOST_WAITING:
                    raise Busy("too much is being computed at the moment; try again in a minute")
                progress = JobProgress()
                job = self._jobs[key] = Job(self._pool.submit(work, progress), progress)
            self._jobs.move_to_end(key)
            for old in [key for key, other in self._jobs.items() if other.ready][
                : max(0, len(self._jobs) - self._kept)
            ]:
                del self._jobs[old]
        if wait:
            with _patience():
                job.future.result(wait)
        return job


class Latest:
    """Results about things that change while they are looked at: one job at a time for each, the last result kept."""

    def __init__(self, jobs: Jobs) -> None:
        self._jobs = jobs
        self._lock = threading.Lock()
        self._current: OrderedDict[Hashable, tuple[Hashable, Job]] = OrderedDict()
        self._last: dict[Hashable, Any] = {}

    def ask(self, key: Hashable, version: Hashable, work: Callable[[Progress], Any], wait: float = 0.0) -> Any | None:
        """The result of this version if it is ready within these seconds, else that of an earlier version, or None."""
        with self._lock:
            asked, job = self._current.get(key, (None, None))
            if job is None or (job.ready and asked != version):
                job = self._jobs.ask((key, version), work)
                self._current[key] = (version, job)
            self._current.move_to_end(key)
            while len(self._current) > MOST_KEPT:
                self._last.pop(self._current.popitem(last=False)[0], None)
        if wait:
            with _patience():
                job.future.result(wait)
        if job.ready:
            self._last[key] = job.result
        return self._last.get(key)


@contextmanager
def _patience() -> Iterator[None]:
    """A job's error is raised when its result is read; a job that needs longer continues."""
    with suppress(TimeoutError, RoteError):
        yield
