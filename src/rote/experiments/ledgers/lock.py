"""The lock of a run: one process at a time writes to it, and a second one gets an error that names the first.

It is a SQLite lock on an empty file `.lock` beside the ledger. It works wherever Python does, and the system releases
it when the process ends, however it ends. No file age or clock is involved. `.owner.json` names the holder, for the
message only.
"""

from __future__ import annotations

import json
import os
import shlex
import socket
import sqlite3
import stat
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path

from rote.errors import InputError
from rote.files import read_json, replacing
from rote.interrupts import unfinished

LOCK, OWNER = ".lock", ".owner.json"


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Hold the lock of a run's folder; an error names the process that has it."""
    owner = folder / OWNER
    with closing(_locked(folder)), unfinished(owner):
        try:
            with replacing(owner) as aside:
                aside.write_text(json.dumps(_this_process()), encoding="utf-8")
            yield
        finally:
            owner.unlink(missing_ok=True)


def _locked(folder: Path) -> sqlite3.Connection:
    """The folder's lock, held while this is open."""
    lock = None
    if os.path.lexists(folder / LOCK) and not stat.S_ISREG(os.lstat(folder / LOCK).st_mode):
        raise InputError(f"{folder / LOCK}: is not a plain file; rote did not write this")
    try:
        lock = sqlite3.connect(folder / LOCK, isolation_level=None, timeout=0)
        lock.execute("BEGIN IMMEDIATE")
    except sqlite3.DatabaseError as error:
        if lock is not None:
            lock.close()
        if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_BUSY:
            raise InputError(
                f"{folder}: {_owner(folder)} is writing to this run; wait for it or use another folder"
            ) from None
        raise InputError(
            f"{folder / LOCK}: cannot be locked ({error}); use a folder you may write to, on a disk that is not full"
        ) from None
    return lock


def _this_process() -> dict[str, str | int]:
    return {
        "host": socket.gethostname(),
        "process": os.getpid(),
        "since": datetime.now(UTC).isoformat(timespec="seconds"),
        "command": shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]])[:200],
    }


def _owner(folder: Path) -> str:
    """The process that last wrote its name; unknown if the file cannot be read yet or any more."""
    try:
        said = read_json(folder / OWNER)
        return f"process {said['process']} on {said['host']} (since {said['since']}: {said['command']})"
    except (InputError, KeyError, TypeError):
        return "another process"
