"""Where the address space is limited, a command runs in a child process, and its parent says what it died of.

A library that gets no memory may end the process without an exception, or never return: OpenBLAS asks again for ever.
Python runs no line of ours then, so that only another process can end it, remove what it left unfinished and say why.
"""

from __future__ import annotations

import os
import select
import signal
from typing import NamedTuple, NoReturn

from rote import interrupts

INTERVAL = 0.25
"""Seconds between two looks at the child."""
NEAR = 2**26
"""Bytes below the limit from which on a library's buffers (32 MiB for OpenBLAS) may not fit."""
FEW = 2**30
"""Bytes of address space below which OpenBLAS gets one thread: it sends Ctrl-C where it cannot start the others."""
FRUITLESS = 2.0
"""CPU seconds of asking the system for memory in vain after which a child is ended."""


def supervise() -> None:
    """Go on in a child process and end with it. Returns in the child, and at once where nothing is limited."""
    most = interrupts.most_addresses()
    if most is None or not hasattr(os, "fork"):
        return
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        if most < FEW:
            os.environ["OPENBLAS_NUM_THREADS"] = "1"
        os.close(reading)
        interrupts.report_to(writing)
        return
    os.close(writing)
    for number in interrupts.CODES:
        signal.signal(number, lambda given, _: os.kill(child, given))
    interrupts.release()
    _follow(child, reading, most)


def _follow(child: int, reading: int, most: int) -> NoReturn:
    """Wait for the child; exit as it does, or for it with a message."""
    said, before, why = b"", None, "a library ran out of memory and ended the program"
    while True:
        ready = select.select([reading], [], [], INTERVAL)[0]
        part = os.read(reading, 2**16) if ready else b""
        said += part
        ended, status = os.waitpid(child, 0 if interrupts.ENDED in said else os.WNOHANG)
        if ended:
            break
        now = _Moment.of(child)
        if before is None or now is None or not now.fruitless_since(before, most):
            before = now
        elif now.seconds - before.seconds > FRUITLESS:
            why = "a library asks again and again for memory that it does not get"
            os.kill(child, signal.SIGKILL)
        if ready and not part:  # the pipe is closed, and the process is about to end
            select.select([], [], [], INTERVAL)
    if interrupts.ENDED in said:
        os._exit(os.waitstatus_to_exitcode(status))
    for path in interrupts.unfinished_in(said):
        interrupts.remove(path)
    os.write(2, f"rote: {why}{interrupts.limit_in_words()}\n".encode())
    os._exit(2)


class _Moment(NamedTuple):
    """What the system counts of a process and its first thread."""

    addresses: int
    """Bytes of its address space."""
    work: tuple[str, ...]
    """Page faults, and bytes read and written: something is done with memory or files while these change."""
    user: int
    system: int
    """Ticks of CPU time of the first thread."""

    @classmethod
    def of(cls, process: int) -> _Moment | None:
        """This moment; none where the system does not say."""
        try:
            with open(f"/proc/{process}/task/{process}/stat", encoding="utf-8", errors="replace") as file:
                counts = file.read().rpartition(")")[2].split()
            with open(f"/proc/{process}/io", encoding="ascii") as file:
                bytes_moved = file.read().split()[1:4:2]
            return cls(int(counts[20]), (counts[7], *bytes_moved), int(counts[11]), int(counts[12]))
        except (OSError, ValueError, IndexError):
            return None

    @property
    def seconds(self) -> float:
        return (self.user + self.system) / os.sysconf("SC_CLK_TCK")

    def fruitless_since(self, before: _Moment, most: int) -> bool:
        """Whether all that happened since was calls of the system that gave nothing, at the limit of addresses."""
        same = self.addresses == before.addresses and self.work == before.work
        return same and self.addresses > most - NEAR and self.system - before.system >= self.user - before.user
