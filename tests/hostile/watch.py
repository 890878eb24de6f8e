"""One attempt under watch: never a traceback, a hang, a file left behind, or memory without bound."""

from __future__ import annotations

import io
import os
import random
import re
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from hostile import canary

UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""What moves a cursor or turns text around on a terminal."""
MOST_MEMORY = 10**9
"""Bytes that one attempt may take."""
SECONDS = 5.0
"""Processor time beyond which an attempt hangs."""
WAITING = 120.0
"""Seconds on the clock beyond which it waits for something that does not come; others may use the machine as well."""
MEMORY = 4 * 2**30
"""Address space that all attempts together may take beyond what the process had: what asks for more fails."""


Attempt = Callable[[], bool]
"""Gives something to a surface and tells whether it was accepted; a refusal is no exception."""


class Surface(Protocol):
    """Something that takes input from outside; one with `helped = True` has other processes work for it."""

    name: str

    def bad(self, rng: random.Random, given: Path) -> Attempt:
        """Make something bad in the folder `given`; what hands it over."""
        ...


class Hang(BaseException):
    """Raised by the clock; no `except` of the library's catches it."""


@dataclass(frozen=True)
class Verdict:
    """What became of one attempt."""

    case: str
    accepted: bool
    seconds: float
    memory: int
    """Bytes of memory at the peak beyond those before."""
    flaws: tuple[str, ...]


def watched(surface: Surface, number: int, scratch: Path) -> Verdict:
    """Case `number` of a surface, in an empty folder below `scratch` that is removed afterwards."""
    case = f"{surface.name}:{number}"
    given, work = scratch / "given", scratch / "work"
    given.mkdir(parents=True)
    work.mkdir()
    flaws, accepted, printed = [], False, io.StringIO()
    attempt = surface.bad(random.Random(case), given)
    canary.arm(given)
    made = _files(given)
    here, before = Path.cwd(), _resident("VmRSS")
    _forget_peak()
    os.chdir(work)
    helped = getattr(surface, "helped", False)
    start = _spent(helped)
    try:
        with _clock(), _by_libraries(printed), redirect_stdout(printed), redirect_stderr(printed):
            accepted = attempt()
    except Hang:
        flaws.append(f"hangs: {_where()}")
    except BaseException as error:  # noqa: BLE001  (whatever comes out here is looked for)
        flaws.append(f"traceback: {_told(error)}")
    finally:
        seconds = _spent(helped) - start
        os.chdir(here)
        flaws += [f"code ran: {what}" for what in canary.disarm()]
    if "Traceback (most recent call last)" in printed.getvalue() or "panicked at" in printed.getvalue():
        flaws.append(f"traceback printed: {printed.getvalue()[-600:]}")
    if hidden := UNSEEN.search(printed.getvalue()):
        flaws.append(f"prints {hidden[0]!r} as it is")
    memory = max(0, _resident("VmHWM") - before)
    if helped:
        memory = max(memory, *_memory_of_helpers())
    if seconds > SECONDS and not flaws:
        flaws.append(f"hangs: {seconds:.1f} s")
    left = sorted(_files(work) | _files(given) - made)
    if not accepted and left:
        flaws.append(f"leaves behind {', '.join(left[:4])}")
    partial = [
        name
        for name in left
        if name.endswith(".part") or (Path(name).name.startswith(".") and not name.endswith(".lock"))
    ]
    if accepted and partial:
        flaws.append(f"leaves half a file behind: {', '.join(partial[:4])}")
    if memory > MOST_MEMORY:
        flaws.append(f"takes {memory / 1e9:.1f} GB")
    remove(scratch)
    return Verdict(case, accepted, seconds, memory, tuple(flaws))


def limit_memory() -> None:
    """From now on allocating `MEMORY` more fails, so that a bomb is an error and not the machine's end."""
    most = _resident("VmSize") + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (most, resource.getrlimit(resource.RLIMIT_AS)[1]))


@contextmanager
def _clock() -> Iterator[None]:
    def ring(*_: object) -> None:
        raise Hang

    limits = ((signal.SIGALRM, signal.ITIMER_REAL, WAITING), (signal.SIGPROF, signal.ITIMER_PROF, SECONDS))
    before = [signal.signal(number, ring) for number, _, _ in limits]
    for _, timer, seconds in limits:
        signal.setitimer(timer, seconds)
    try:
        yield
    finally:
        for (number, timer, _), old in zip(limits, before, strict=True):
            signal.setitimer(timer, 0)
            signal.signal(number, old)


@contextmanager
def _by_libraries(printed: io.StringIO) -> Iterator[None]:
    """Add what libraries that are no Python write to standard error."""
    with tempfile.TemporaryFile() as file:
        kept = os.dup(2)
        os.dup2(file.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(kept, 2)
            os.close(kept)
            file.seek(0)
            printed.write(file.read(2**20).decode("utf-8", errors="replace"))


def _told(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "/rote/" in frame.filename] or frames[-1:]
    last = ours[-1]
    return f"{type(error).__name__}: {str(error)[:200]} ({Path(last.filename).name}:{last.lineno})"


def _where() -> str:
    frames = traceback.extract_tb(sys.exc_info()[2])
    return " < ".join(f"{Path(frame.filename).name}:{frame.lineno}" for frame in frames[-1:-6:-1])


def _files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def _resident(name: str, process: int | str = "self") -> int:
    """Bytes of a process in memory now (VmRSS), at the peak (VmHWM), or of its addresses (VmSize)."""
    with open(f"/proc/{process}/status", encoding="utf-8", errors="replace") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith(f"{name}:"))


def _spent(helped: bool) -> float:
    """CPU seconds of this process and of those that worked for it, ended or not.

    Ended ones count for the process that waited for them: this one, or the one from which workers are forked.
    """
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = time.process_time() + ended.ru_utime + ended.ru_stime
    if helped:
        ticks = os.sysconf("SC_CLK_TCK")
        seconds += sum(sum(map(int, counts[11:15])) / ticks for _, counts in _helpers())
    return seconds


def _memory_of_helpers() -> Iterator[int]:
    """Bytes that each live process took beyond its parent's at the peak."""
    yield 0
    for process, counts in _helpers():
        with suppress(OSError, StopIteration):
            parent = _resident("VmRSS", int(counts[1]))
            yield max(0, _resident("VmHWM", process) - parent)


def _helpers() -> list[tuple[int, list[str]]]:
    """The processes that work for this one, with their fields in `/proc/PID/stat` after the name."""
    told: dict[int, list[str]] = {}
    for entry in Path("/proc").iterdir():
        with suppress(OSError):
            if entry.name.isdigit():
                told[int(entry.name)] = (entry / "stat").read_text(errors="replace").rpartition(")")[2].split()
    ours, found = {os.getpid()}, True
    while found:
        found = {process for process, counts in told.items() if int(counts[1]) in ours} - ours
        ours |= found
    return [(process, told[process]) for process in ours - {os.getpid()}]


def _forget_peak() -> None:
    with suppress(OSError), open("/proc/self/clear_refs", "w", encoding="ascii") as file:
        file.write("5")


def remove(folder: Path) -> None:
    """Remove a folder whatever its rights are."""
    for path in folder.rglob("*"):
        if path.is_dir() and not path.is_symlink():
            path.chmod(0o755)
    shutil.rmtree(folder)
