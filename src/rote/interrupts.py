"""Ctrl-C, SIGTERM and a lack of memory: a command ends within two seconds, in one message, with nothing half-written.

The entry point holds signals back and calls `install` before it imports anything large. A signal raises an exception
where the program is, so that whatever is open is closed in order. Three cases do not wait for that: a signal during an
import (libraries turn exceptions there into errors of their own), a second signal, and a program that has not ended
`GRACE` seconds later because it is inside a long call of a library. `leave` then removes the unfinished output itself
and ends the process.

Only the standard library's smallest modules are imported here, so that little time passes before the handlers stand.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, NoReturn

GRACE = 0.4
"""Seconds that a program has for closing what is open."""
CODES = {signal.SIGINT: 130, signal.SIGTERM: 143}
"""Exit codes by convention: 128 and the number of the signal."""
ENDED = b"\0.\0"
"""Last report of a supervised process that ended by itself."""
SIGNS: dict[type, tuple[str, ...]] = {
    RuntimeError: ("can't allocate memory", "bad_alloc", "can't start new thread", "out of memory", "unable to mmap"),
    SystemError: ("without setting an exception", "without exception set"),  # the interpreter itself ran out
}
"""What errors say, in small letters, that a lack of memory raises beside `MemoryError`."""
WORDS = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated"}


class Terminated(KeyboardInterrupt):
    """SIGTERM, raised where Ctrl-C would be."""


class _State:
    """What has been written, is being written, and was received."""

    def __init__(self) -> None:
        self.received: signal.Signals | None = None
        self.unfinished: list[str] = []
        self.complete: list[str] = []
        self.resumable: list[str] = []
        self.said = False
        self.leaving = threading.Lock()
        self.report: int | None = None
        """Where a supervised process reports what is unfinished, and that it ended by itself."""


_state = _State()
standard_error = 2
"""Where the last message goes; another descriptor while standard error is held back (`rote.panics`)."""


def install() -> None:
    """Take over Ctrl-C and SIGTERM; called once, in the main thread, by the command line alone."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    for number in CODES:
        signal.signal(number, _handle)
    sys.unraisablehook = _unraisable
    threading.Thread(target=_watch, args=(reading,), name="rote-interrupts", daemon=True).start()
    release()


def release() -> None:
    """Have signals delivered that the entry point held back until handlers stood."""
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, CODES)


def _unraisable(unraisable: Any) -> None:
    """An interrupt that arrives inside a finalizer cannot be raised: the watching thread ends the program instead."""
    if not isinstance(unraisable.exc_value, KeyboardInterrupt):
        sys.__unraisablehook__(unraisable)


def received() -> signal.Signals | None:
    """The signal that is ending this program, if there is one."""
    return _state.received


def note(number: int) -> None:
    """Note a signal that another handler received, as that of a server."""
    _state.received = signal.Signals(number)


@contextmanager
def unfinished(path: str | os.PathLike[str]) -> Iterator[None]:
    """A file or folder that is worthless until the work inside has ended: removed if the program has to end first."""
    name = os.path.abspath(path)
    _state.unfinished.append(name)
    _report(b"+" + os.fsencode(name))
    try:
        yield
    finally:
        _state.unfinished.remove(name)
        _report(b"-" + os.fsencode(name))


def completed(path: str | os.PathLike[str]) -> None:
    """Note that an output is complete, for the message of an interrupt that comes after it."""
    if not os.path.basename(path).startswith("."):
        _state.complete.append(os.fspath(path))


def kept(folder: str | os.PathLike[str]) -> None:
    """Note a folder that keeps whatever ended: the message of an interrupt says that the same command resumes."""
    if os.fspath(folder) not in _state.resumable:
        _state.resumable.append(os.fspath(folder))


def no_longer_kept(folder: str | os.PathLike[str]) -> None:
    """Note that the work of which a folder kept the parts is done."""
    if os.fspath(folder) in _state.resumable:
        _state.resumable.remove(os.fspath(folder))


def message(number: signal.Signals = signal.SIGINT) -> str:
    """What an interrupted command says: what is complete, what is kept, or that nothing was written."""
    word = WORDS.get(number, "interrupted")
    if _state.resumable:
        return f"{word}; what had ended is kept in {_state.resumable[-1]}, and the same command resumes"
    if _state.complete:
        paths = list(dict.fromkeys(_state.complete))
        more = f" and {len(paths) - 3} more" if len(paths) > 3 else ""
        return f"{word}; already written and complete: {', '.join(paths[:3])}{more}"
    return f"{word}; nothing was written"


def begin() -> None:
    """Forget what earlier commands of this process wrote."""
    _state.complete.clear()
    _state.resumable.clear()


def end(code: int) -> NoReturn:
    """End the process with this code: at once after a signal, else as Python does, deaf to signals that come now."""
    for number in CODES:
        signal.signal(number, signal.SIG_IGN)
    if _state.received is not None:
        _state.said = True
        leave(code)
    _report(ENDED[1:-1])
    sys.exit(code)


def leave(code: int | None = None) -> NoReturn:
    """End the process now: child processes stopped, unfinished output removed, one message."""
    if not _state.leaving.acquire(blocking=False):
        while True:  # another thread is at it
            time.sleep(GRACE)
    number = _state.received or signal.SIGINT
    try:
        _stop_children()
        for path in list(_state.unfinished):
            remove(path)
    finally:  # whatever went wrong there
        _say_and_exit(number, CODES.get(number, 130) if code is None else code)


def _say_and_exit(number: signal.Signals, code: int) -> NoReturn:
    try:
        if not _state.said:
            # The cursor, which a progress bar hides, is shown again.
            shown = "\r\x1b[K\x1b[?25h" if os.isatty(standard_error) else ""
            os.write(standard_error, f"{shown}rote: {message(number)}\n".encode())
        sys.stdout.flush()
    finally:
        _report(ENDED[1:-1])
        os._exit(code)


def be_a_child() -> None:
    """Make this process one that ends with its parent; Ctrl-C, which reaches both, is the parent's to answer."""
    from multiprocessing import parent_process
    from multiprocessing.connection import wait

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    parent = parent_process()
    if parent is None:
        return

    def watch() -> None:
        wait([parent.sentinel])
        os._exit(1)

    threading.Thread(target=watch, name="rote-parent", daemon=True).start()


def out_of_memory(error: BaseException) -> str | None:
    """What to say of an error that too little memory caused, directly or not; none for any other error."""
    cause: BaseException | None = error
    while cause is not None:
        text = str(cause).lower()
        if isinstance(cause, ImportError | OSError) and ("failed to map" in text or "cannot allocate" in text):
            return f"not enough memory to load a library ({cut(cause)}){limit_in_words()}"
        said = [sign for kind, signs in SIGNS.items() if isinstance(cause, kind) for sign in signs if sign in text]
        if said or isinstance(cause, MemoryError):
            return f"not enough memory for this size{limit_in_words()}"
        cause = cause.__cause__ or cause.__context__
    return None


def cut(error: BaseException) -> str:
    return " ".join(str(error).split())[:120]


def most_addresses() -> int | None:
    """Bytes to which the address space is limited; none where it is not."""
    try:
        import resource
    except ImportError:
        return None
    most = resource.getrlimit(resource.RLIMIT_AS)[0]
    return None if most == resource.RLIM_INFINITY else most


def limit_in_words() -> str:
    """The limit of the address space, where there is one, to be added to a message."""
    most = most_addresses()
    if most is None:
        return ""
    return f"; the address space is limited to {most // 2**20:,} MiB (`ulimit -v`), raise that limit"


def report_to(pipe: int) -> None:
    """From now on tell a supervising process of what is unfinished (`rote.supervisor`)."""
    _state.report = pipe


def unfinished_in(reports: bytes) -> list[str]:
    """Paths that a supervised process reported as begun and not as done."""
    begun: dict[bytes, int] = {}
    for line in reports.split(b"\0"):
        if line[:1] in (b"+", b"-"):
            begun[line[1:]] = begun.get(line[1:], 0) + (1 if line[:1] == b"+" else -1)
    return [os.fsdecode(path) for path, count in begun.items() if count > 0]


def _report(what: bytes) -> None:
    if _state.report is not None:
        os.write(_state.report, b"\0" + what + b"\0")


def _handle(number: int, frame: FrameType | None) -> None:
    again = _state.received is not None
    _state.received = signal.Signals(number)
    if again or _importing(frame):
        leave()
    # Whoever waits for them waits no longer.
    _stop_children()
    raise Terminated if number == signal.SIGTERM else KeyboardInterrupt


def _importing(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_code.co_filename == "<frozen importlib._bootstrap>":
            return True
        frame = frame.f_back
    return False


def _watch(pipe: int) -> None:
    """End the program if it does not end by itself. Runs beside a main thread that a library keeps busy."""
    while numbers := os.read(pipe, 64):
        given = [number for number in CODES if number in numbers]
        if given and signal.getsignal(given[0]) is _handle:
            time.sleep(GRACE)
            _state.received = _state.received or given[0]
            leave()


def _stop_children() -> None:
    if "multiprocessing" in sys.modules:
        from multiprocessing import active_children

        for child in active_children():
            child.kill()
    server = getattr(sys.modules.get("multiprocessing.forkserver"), "_forkserver", None)
    if (process := getattr(server, "_forkserver_pid", None)) is not None:
        # It would end by itself, after the second in which Python puts a large library away.
        os.kill(process, signal.SIGKILL)


def remove(path: str) -> None:
    """Remove a file or a folder, where it still is."""
    import shutil

    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path, ignore_errors=True)
    elif os.path.lexists(path):
        os.unlink(path)
