"""Libraries in Rust that panic on damaged input (tokenizers, polars): an exception, and lines on standard error.

A panic prints where it happened, and with RUST_BACKTRACE a hundred lines more, before Python sees it. One message is
enough, and the lines may hold what acts on a terminal.
"""

from __future__ import annotations

import os
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO

from rote import interrupts

MOST_SHOWN = 2**16
"""Bytes of what a library printed without a panic that are shown afterwards."""
_lock = threading.Lock()
_quiet: list[IO[bytes]] = []
"""The file that holds standard error back, once per block that is in progress."""


def is_panic(error: BaseException) -> bool:
    """Whether a library panicked; each of them has a class of its own, which is no `Exception`."""
    return type(error).__name__ == "PanicException"


@contextmanager
def quiet() -> Iterator[None]:
    """Hold standard error back while a library works; shown afterwards, unless the library panicked."""
    _begin()
    panicked = False
    try:
        yield
    except BaseException as error:
        panicked = is_panic(error)
        raise
    finally:
        _end(panicked)


def _begin() -> None:
    with _lock:
        if _quiet:
            _quiet.append(_quiet[0])
            return
        with suppress(OSError):  # no standard error, or no room for a file
            held = _file()
            interrupts.standard_error = os.dup(2)
            os.dup2(held.fileno(), 2)
            _quiet.append(held)


def _file() -> IO[bytes]:
    return os.fdopen(os.memfd_create("stderr"), "w+b") if hasattr(os, "memfd_create") else tempfile.TemporaryFile()


def _end(panicked: bool) -> None:
    with _lock:
        if not _quiet:
            return
        held = _quiet.pop()
        if panicked:
            held.seek(0)
            held.truncate()
        if _quiet:
            return
        real, interrupts.standard_error = interrupts.standard_error, 2
        os.dup2(real, 2)
        os.close(real)
        with held, suppress(OSError):
            held.seek(0)
            os.write(2, held.read(MOST_SHOWN))
