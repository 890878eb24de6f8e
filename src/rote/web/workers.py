"""Work on strangers' folders, in processes with limits of time and memory that can be killed.

Everything about one model, one run or one plan is done by one process of its own, which stays for the next request. A
model that takes too long or too much memory costs its own requests: its process is killed and the answer says so, and
meanwhile others are opened. Processes are forked from one that has imported what they need, so that each starts at
once; they end with the server.

A process is given its folders as open descriptors and reads inside them, so that a folder that is swapped for a link
afterwards leads nowhere else.
"""

from __future__ import annotations

import asyncio
import itertools
import math
import os
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from importlib import import_module
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.reduction import DupFd
from typing import Any

from rote import interrupts
from rote.errors import InputError, RoteError, cut
from rote.files import MOST_NAMES
from rote.web.jobs import Busy
from rote.web.shelf import NotThere

MOST_WORKERS = 12
"""Most processes at a time; the least recently used one is stopped for a new one."""
MOST_WAITING = 64
"""Requests that wait for one process."""
ANSWER_SECONDS = 20.0
"""Seconds within which a request is answered."""
CPU_SECONDS = 600
"""CPU time of one process, work in the background included."""
OPENING_SECONDS, OPENING_BYTES = 3, 2**24
"""CPU time for opening a folder, and one second more for so many bytes of its files."""
MEMORY = 2 * 2**30
"""Bytes of addresses that a process may take beyond what it was started with."""
REST_SECONDS = 30.0
"""Seconds for which a stopped folder is not tried again."""
THREADS = 8
"""Requests that a process answers at a time: most of them wait for its one thread of work."""
TASKS = "rote.web.work"
"""Where tasks are; imported by the process that others are forked from."""

ERRORS: dict[str, type[RoteError]] = {"NotThere": NotThere, "Busy": Busy}


class Stopped(InputError):
    """Work that took longer, or more memory, than the page allows."""


class Descriptor:
    """An open folder, handed to a process that is being started."""

    def __init__(self, number: int) -> None:
        self.number = number

    def __reduce__(self) -> tuple[Callable[[Any], Descriptor], tuple[Any]]:
        return _received, (DupFd(self.number),)


def _received(passed: Any) -> Descriptor:
    return Descriptor(passed.detach())


@dataclass
class _Worker:
    """A process and its requests."""

    process: Any
    connection: Connection
    waiting: dict[int, Future[Any]] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)
    why: str = ""
    """The message if it ends without an answer."""
    evicted: bool = False

    def ask(self, number: int, words: tuple[Any, ...]) -> Future[Any]:
        answer: Future[Any] = Future()
        with self.lock:
            if len(self.waiting) >= MOST_WAITING:
                raise Busy("too much is being computed at the moment; try again in a minute")
            self.waiting[number] = answer
            try:
                self.connection.send((number, *words))
            except OSError:
                self.waiting.pop(number)
                raise Stopped(self.why) from None
        return answer

    def listen(self) -> None:
        """Pass answers to those who wait for them until the process ends."""
        while True:
            try:
                number, kind, value = self.connection.recv()
            except (EOFError, OSError):
                break
            with self.lock:
                answer = self.waiting.pop(number, None)
            if answer is None or not answer.set_running_or_notify_cancel():
                continue  # nobody waits any longer
            if kind == "":
                answer.set_result(value)
            else:
                answer.set_exception(ERRORS.get(kind, InputError)(value))
        with self.lock:
            left, self.waiting = list(self.waiting.values()), {}
        for answer in left:
            if answer.set_running_or_notify_cancel():
                answer.set_exception(Stopped(self.why))

    def stop(self, why: str, evicted: bool = False) -> None:
        self.why, self.evicted = why, evicted
        with suppress(OSError, ValueError):
            self.process.kill()


class Workers:
    """The processes of one page."""

    def __init__(self, memory: int = MEMORY, seconds: float = ANSWER_SECONDS) -> None:
        self.memory, self.seconds = memory, seconds
        self._context: Any = get_context("forkserver")
        self._context.set_forkserver_preload([TASKS])
        self._workers: OrderedDict[Hashable, _Worker] = OrderedDict()
        self._resting: dict[Hashable, tuple[float, str]] = {}
        self._lock = threading.Lock()
        self._numbers = itertools.count()

    async def ask(self, key: Hashable, label: str, task: str, *values: Any, folders: Sequence[int] = ()) -> Any:
        """What the function `task` of `rote.web.work` gives for these values, computed by the process of this key.

        `folders` are descriptors of the folders that it may read. `label` names the work in messages.
        """
        for again in (True, True, False):
            worker = self._alive(key) or await asyncio.to_thread(self._worker, key, label, folders)
            try:
                answer = worker.ask(next(self._numbers), (task, values))
                return await asyncio.wait_for(asyncio.wrap_future(answer), self.seconds)
            except (Stopped, TimeoutError) as error:
                self._after(error, key, label, worker, again)
        raise Stopped(f"{label}: was stopped again and again to make room for others")

    def result(self, key: Hashable, label: str, task: str, *values: Any, folders: Sequence[int] = ()) -> Any:
        """As `ask`, for a thread that may wait."""
        for again in (True, True, False):
            worker = self._alive(key) or self._worker(key, label, folders)
            try:
                return worker.ask(next(self._numbers), (task, values)).result(self.seconds)
            except (Stopped, TimeoutError) as error:
                self._after(error, key, label, worker, again)
        raise Stopped(f"{label}: was stopped again and again to make room for others")

    def _after(self, error: Exception, key: Hashable, label: str, worker: _Worker, again: bool) -> None:
        """A process that was stopped for another one is started again; one that exceeded a limit waits."""
        if worker.evicted and again:
            return
        late = f"{label}: took longer than {self.seconds:g} s; the command line has no such limit"
        why = str(error) if isinstance(error, Stopped) else late
        self._give_up(key, worker, why)
        raise Stopped(why) from None

    def release(self, key: Hashable) -> None:
        """End the process of this key unless other requests wait for it; the last of them ends it."""
        with self._lock:
            worker = self._workers.get(key)
            if worker is None or worker.waiting:
                return
            del self._workers[key]
        worker.stop("its work is done", evicted=True)

    def close(self) -> None:
        with self._lock:
            workers, self._workers = list(self._workers.values()), OrderedDict()
        for worker in workers:
            worker.stop("the page is closed")

    def _alive(self, key: Hashable) -> _Worker | None:
        with self._lock:
            worker = self._workers.get(key)
            if worker is None or not worker.process.is_alive():
                return None
            self._workers.move_to_end(key)
            return worker

    def _worker(self, key: Hashable, label: str, folders: Sequence[int]) -> _Worker:
        with self._lock:
            until, why = self._resting.get(key, (0.0, ""))
            if time.monotonic() < until:
                raise Stopped(why)
            worker = self._workers.get(key)
            if worker is None or not worker.process.is_alive():
                self._make_room()
                worker = self._workers[key] = self._started(label, folders)
            self._workers.move_to_end(key)
            return worker

    def _make_room(self) -> None:
        while len(self._workers) >= MOST_WORKERS:
            idle = next((key for key, worker in self._workers.items() if not worker.waiting), None)
            key = next(iter(self._workers)) if idle is None else idle
            self._workers.pop(key).stop("stopped to make room for another", evicted=True)

    def _started(self, label: str, folders: Sequence[int]) -> _Worker:
        ours, theirs = self._context.Pipe()
        descriptors = [Descriptor(number) for number in folders]
        process = self._context.Process(target=_work, args=(theirs, descriptors, self.memory), daemon=True)
        process.start()
        theirs.close()
        why = (
            f"{label}: took more than {self.memory // 2**20:,} MiB of memory, {OPENING_SECONDS} s of CPU time to open "
            f"so few bytes, or {CPU_SECONDS} s in all; the command line has no such limit"
        )
        worker = _Worker(process, ours, why=why)
        threading.Thread(target=worker.listen, name="rote-worker", daemon=True).start()
        return worker

    def _give_up(self, key: Hashable, worker: _Worker, why: str) -> None:
        worker.stop(why)
        with self._lock:
            self._resting[key] = (time.monotonic() + REST_SECONDS, why)
            for old in [old for old, (until, _) in self._resting.items() if until < time.monotonic()]:
                del self._resting[old]
            if self._workers.get(key) is worker:
                del self._workers[key]


_folders: list[int] = []
_place = threading.RLock()


@contextmanager
def inside(number: int = 0) -> Iterator[None]:
    """Read inside a folder of this process: paths without a folder are files of it, whatever its name leads to now."""
    with inside_descriptor(_folders[number]):
        yield


@contextmanager
def inside_descriptor(folder: int) -> Iterator[None]:
    """Read inside an open folder."""
    with _place:
        os.fchdir(folder)
        yield


def folder_number(number: int) -> int:
    """The descriptor of a folder of this process."""
    return _folders[number]


@contextmanager
def opening() -> Iterator[None]:
    """End this process if opening its first folder takes more CPU time than the bytes in it can explain."""
    import resource

    seconds = OPENING_SECONDS + _bytes_below(_folders[0]) // OPENING_BYTES
    _, most = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (min(CPU_SECONDS, math.ceil(time.process_time() + seconds)), most))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, most))


def _bytes_below(folder: int) -> int:
    """Bytes on the disk of the files of an open folder; holes take none."""
    return sum(512 * blocks for *_, blocks in files_now(folder))


def files_now(folder: int) -> tuple[tuple[str, int, int, int, int], ...]:
    """Name, number, time, size and blocks of every file of an open folder: what changes when one is written anew."""
    found = []
    with os.scandir(folder) as entries:
        for entry in itertools.islice(entries, MOST_NAMES):
            with suppress(OSError):
                state = entry.stat(follow_symlinks=False)
                found.append((entry.name, state.st_ino, state.st_mtime_ns, state.st_size, state.st_blocks))
    return tuple(sorted(found))


def _work(connection: Connection, folders: list[Descriptor], memory: int) -> None:
    """The process: answers requests until the server is gone."""
    interrupts.be_a_child()
    _folders[:] = [folder.number for folder in folders]
    os.chdir("/")
    os.nice(5)
    _limit(memory)
    sending = threading.Lock()

    def answer(number: int, task: str, values: tuple[Any, ...]) -> None:
        kind, value = "", None
        try:
            module, _, name = task.rpartition(".")
            value = getattr(import_module(module or TASKS), name)(*values)
        except RoteError as error:
            kind, value = type(error).__name__, str(error)
        except MemoryError:
            os._exit(1)
        except Exception as error:  # noqa: BLE001  (a stranger's folder: whatever goes wrong with it is its own)
            if interrupts.out_of_memory(error) is not None:
                os._exit(1)
            problem = f"{type(error).__name__}: {cut(' '.join(str(error).split()))}"
            kind, value = "InputError", f"it cannot be shown ({problem})"
        with sending, suppress(OSError):
            connection.send((number, kind, value))

    with ThreadPoolExecutor(THREADS) as pool:
        while True:
            try:
                pool.submit(answer, *connection.recv())
            except (EOFError, OSError):
                os._exit(0)


def _limit(memory: int) -> None:
    import resource

    with open("/proc/self/statm", encoding="ascii") as file:
        size = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + memory, size + memory))
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS + 1))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
