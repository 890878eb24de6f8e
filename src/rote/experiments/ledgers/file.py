"""Opening a ledger's file: claimed by a run, or read only. What is damaged, foreign or newer is rejected by name.

A run may come from a stranger. Its ledger must be a plain file, no link, below a stated size; SQLite opens it read-only
where it is only read, with limits on the length of a value, on the work and on the time; and only rote's own tables are
accepted in it (`schema.format_of`).
"""

from __future__ import annotations

import json
import os
import sqlite3
import stat
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from urllib.parse import quote

from rote.errors import InputError, RoteError, cut
from rote.experiments.ledgers import schema as ledger_schema
from rote.files import SPARSE_FROM, SPARSE_SHARE, FileKind, held, private_folder

NO_ROOM = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR)
KIND = FileKind("a ledger", 2**32)
"""Ten million trials take about as many bytes."""
LONGEST = 2**24
"""Bytes of one value in it."""
SECONDS = 120.0
"""Within which a ledger is read."""
TICK = 10_000
"""Steps of SQLite's machine between two looks at the limits."""
FEWEST_TICKS, BYTES_PER_TICK = 1_000, 100
"""Ticks that any ledger may take, and bytes of a large one that allow one more: a damaged file may have loops."""


def claim(connection: sqlite3.Connection, path: Path, identity: str, about: str) -> None:
    """Create the tables of a new ledger, or check an existing one: undamaged, of this format and of the same run."""
    if ledger_schema.format_of(connection, path) is None:
        ledger_schema.create(connection, identity, about)
        return
    ledger_schema.check(connection, path)
    ledger_schema.migrate(connection, path)
    kept = connection.execute("SELECT identity FROM run").fetchone()[0]
    if kept != identity:
        with foreign(path.parent):
            differing = differences(dict(json.loads(kept)), json.loads(identity))
        raise InputError(
            f"{path.parent}: holds another run ({differing}); give another folder, or the same settings to resume"
        )


def differences(kept: dict, wanted: dict) -> str:
    """The first few fields in which two identities differ."""
    names = [name for name in sorted({*kept, *wanted}) if kept.get(name) != wanted.get(name)]
    return "; ".join(
        f"{cut(name)} {cut(repr(kept.get(name)))}, now {cut(repr(wanted.get(name)))}" for name in names[:3]
    )


@contextmanager
def for_reading(path: Path, whole: bool) -> Iterator[sqlite3.Connection]:
    """A read-only connection to a ledger; an older format is migrated in memory."""
    size = refuse_unlike(path) + refuse_unlike(_log(path))
    with (
        _readable(path) as (place, options),
        closing(sqlite3.connect(f"file:{quote(str(place))}?{options}", uri=True, isolation_level=None)) as connection,
    ):
        guard(connection)
        _limit(connection, size)
        try:
            connection.execute("SELECT count(*) FROM sqlite_master")
            _refuse_another_file(place)
            # Before anything else: checking the file would run the code of views.
            written = ledger_schema.format_of(connection, path)
            if whole:
                ledger_schema.check(connection, path)
        except UnicodeDecodeError:
            # SQLite quotes the schema in its message, and Python cannot read what is no text in it.
            raise ledger_schema.damaged(path, "its schema is not text") from None
        if written is None:
            raise InputError(f"{path}: is empty; start the run again in its folder")
        if written == ledger_schema.FORMAT:
            yield connection
            return
        with closing(sqlite3.connect(":memory:", isolation_level=None)) as memory:
            connection.backup(memory)
            guard(memory)
            _limit(memory, size)
            ledger_schema.migrate(memory, path)
            yield memory


def refuse_unlike(path: Path) -> int:
    """Reject a ledger that is a link, a device or a pipe, or too large; its bytes, none where there is no file yet."""
    try:
        state = os.lstat(path)
    except FileNotFoundError:
        return 0
    if stat.S_ISLNK(state.st_mode):
        raise InputError(f"{path}: is a link, which rote does not follow here; put the file in its place")
    if not stat.S_ISREG(state.st_mode):
        raise InputError(f"{path}: is not a plain file; rote did not write this")
    if state.st_size > KIND.most:
        raise InputError(f"{path}: {state.st_size:,} bytes are too many for a ledger; rote reads at most {KIND.most:,}")
    if state.st_size >= SPARSE_FROM and 512 * state.st_blocks * SPARSE_SHARE < state.st_size:
        raise InputError(f"{path}: {state.st_size:,} bytes, nearly all of them holes; rote did not write this")
    return state.st_size


def refuse_planted(path: Path) -> None:
    """Reject files beside a ledger that SQLite would write into although they are links or have another name."""
    for suffix in ("-wal", "-shm", "-journal"):
        file = path.with_name(f"{path.name}{suffix}")
        refuse_unlike(file)
        if os.path.lexists(file) and os.lstat(file).st_nlink > 1:
            raise InputError(f"{file}: has another name elsewhere, which would be written as well; remove it")


def guard(connection: sqlite3.Connection) -> None:
    """Bound the length of values, and run no code of the file's own."""
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST)
    connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("PRAGMA cell_size_check = ON")


def _limit(connection: sqlite3.Connection, size: int) -> None:
    """Bound the work and the time that reading a file of so many bytes may take."""
    end, left = time.monotonic() + SECONDS, FEWEST_TICKS + size // BYTES_PER_TICK

    def exhausted() -> bool:
        nonlocal left
        left -= 1
        return left < 0 or time.monotonic() > end

    connection.set_progress_handler(exhausted, TICK)


def _refuse_another_file(path: Path) -> None:
    """SQLite opens by name, and follows links: the file that it opened must be the one that is there, and no link."""
    refuse_unlike(path)
    names = next((place for place in ("/proc/self/fd", "/dev/fd") if os.path.isdir(place)), None)
    if names is None:
        return
    wanted, opened = os.lstat(path), set()
    for name in os.listdir(names):
        with suppress(OSError, ValueError):
            state = os.fstat(int(name))
            opened.add((state.st_dev, state.st_ino))
    if (wanted.st_dev, wanted.st_ino) not in opened:
        raise InputError(f"{path}: changed while it was opened; try again when nothing replaces it")


def _log(path: Path) -> Path:
    """SQLite's log of writes that are not in a ledger's file yet."""
    return path.with_name(f"{path.name}-wal")


@contextmanager
def _readable(path: Path) -> Iterator[tuple[Path, str]]:
    """The file that SQLite opens and how, so that nothing is created in a ledger's folder.

    Nobody writes where no log of writes lies beside the file. A log with its shared memory (`-shm`) is a run that is
    being written, or was killed: SQLite reads it there. To read a log without it SQLite would create one, so that both
    files are first copied to a private folder.
    """
    if not os.path.lexists(_log(path)):
        yield path, "mode=ro&immutable=1"
    elif _shares_memory(path):
        yield path, "mode=ro"
    else:
        with _private_copy(path) as copy:
            yield copy, "mode=ro"


def _shares_memory(path: Path) -> bool:
    """Whether the shared memory of a log is there, and no other name of a file elsewhere: SQLite writes into it."""
    try:
        state = os.lstat(path.with_name(f"{path.name}-shm"))
    except OSError:
        return False
    return stat.S_ISREG(state.st_mode) and state.st_nlink == 1


@contextmanager
def _private_copy(path: Path) -> Iterator[Path]:
    """A ledger and its log in a folder of their own, as they were at one moment."""
    files = path, _log(path)
    with held(path.parent) as folder, private_folder("rote-ledger-") as place:
        before = [_version(file) for file in files]
        for file in files:
            folder.copy(file.name, place / file.name, KIND)
        if before != [_version(file) for file in files]:
            raise InputError(f"{path}: changed while it was read; try again when nothing writes to it")
        yield place / path.name


def _version(file: Path) -> tuple[int, int, int]:
    state = os.lstat(file)
    return state.st_ino, state.st_size, state.st_mtime_ns


@contextmanager
def foreign(run: str | Path) -> Iterator[None]:
    """Work on trials that a stranger may have written: what they make rote stumble over is one message."""
    try:
        yield
    except RoteError:
        raise
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
        problem = f"{type(error).__name__}: {cut(' '.join(str(error).split()))}"
        raise InputError(f"{run}: its trials are not what rote records ({problem})") from error


def refusal(path: Path, error: sqlite3.DatabaseError) -> InputError:
    """The error for a failure of SQLite, with its remedy."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in NO_ROOM:
        return InputError(
            f"{path}: {error}; free some space or write to another disk. Trials that ended are kept, "
            "and the same command resumes"
        )
    if code == sqlite3.SQLITE_CORRUPT:
        return ledger_schema.damaged(path, str(error))
    if code == sqlite3.SQLITE_INTERRUPT:
        return InputError(f"{path}: takes longer to read than a ledger of its size can; it is damaged, or not rote's")
    return InputError(f"{path}: cannot be read as a ledger ({error})")
