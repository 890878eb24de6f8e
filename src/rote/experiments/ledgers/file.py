"""Opening the file of a ledger, to write or to read. Damaged, foreign or newer files are rejected with the reason."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

from rote.errors import InputError
from rote.experiments.ledgers import schema as ledger_schema

NO_ROOM = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR)
NOT_WRITABLE = (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY)


def claim(connection: sqlite3.Connection, path: Path, identity: str, about: str) -> None:
    """Create the tables of a new ledger, or check an existing one: undamaged, of this format and of the same run."""
    ledger_schema.check(connection, path)
    if ledger_schema.format_of(connection, path) is None:
        ledger_schema.create(connection, identity, about)
        return
    ledger_schema.migrate(connection, path)
    kept = connection.execute("SELECT identity FROM run").fetchone()[0]
    if kept != identity:
        differing = differences(json.loads(kept), json.loads(identity))
        raise InputError(
            f"{path.parent}: holds another run ({differing}); give another folder, or the same settings to resume"
        )


def differences(kept: dict, wanted: dict) -> str:
    """The first few fields in which two identities differ."""
    names = [name for name in sorted({*kept, *wanted}) if kept.get(name) != wanted.get(name)]
    return "; ".join(f"{name} {kept.get(name)!r}, now {wanted.get(name)!r}" for name in names[:3])


def for_reading(path: Path, whole: bool) -> sqlite3.Connection:
    """A connection for reading a ledger; an older format is migrated in memory."""
    connection = _connected(path)
    try:
        if whole:
            ledger_schema.check(connection, path)
        written = ledger_schema.format_of(connection, path)
        if written is None:
            raise InputError(f"{path}: is empty; start the run again in its folder")
        if written == ledger_schema.FORMAT:
            return connection
        memory = sqlite3.connect(":memory:", isolation_level=None)
        with closing(connection):
            connection.backup(memory)
        ledger_schema.migrate(memory, path)
        return memory
    except BaseException:
        connection.close()
        raise


def _connected(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        connection.execute("SELECT count(*) FROM sqlite_master")
        return connection
    except sqlite3.DatabaseError as error:
        connection.close()
        log = path.with_name(f"{path.name}-wal")
        if error.sqlite_errorcode & 0xFF not in NOT_WRITABLE or log.exists():
            raise
    # The folder is read-only and there is no write-ahead log, so the file is complete.
    return sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True, isolation_level=None)


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
    return InputError(f"{path}: cannot be read as a ledger ({error})")
