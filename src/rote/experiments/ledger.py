"""The ledger of a run: one SQLite row per trial, committed when the trial ends.

A run is a folder with `ledger.sqlite`. A killed run has lost only the trials that had not ended; opening the ledger
again says which are done. A ledger belongs to one plan of trials (its `identity`): results of different protocols are
never mixed.
"""

from __future__ import annotations

import fcntl
import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from rote.errors import InputError

FORMAT = 1
FILE = "ledger.sqlite"

SCHEMA = """
CREATE TABLE IF NOT EXISTS run (format INTEGER NOT NULL, identity TEXT NOT NULL, about TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS trials (
    cell TEXT NOT NULL,
    seed INTEGER NOT NULL,
    result TEXT NOT NULL,
    seconds REAL NOT NULL,
    ended TEXT NOT NULL,
    PRIMARY KEY (cell, seed)
) WITHOUT ROWID;
"""


class TrialKey(NamedTuple):
    """What names a trial: its cell of the grid, in canonical JSON, and its seed."""

    cell: str
    seed: int

    @classmethod
    def of(cls, cell: dict[str, Any], seed: int) -> TrialKey:
        return cls(_canonical(cell), seed)


@dataclass(frozen=True)
class TrialRow:
    """A trial that ended."""

    cell: dict[str, Any]
    seed: int
    result: dict[str, Any]
    seconds: float
    """Processor time of the trial."""
    ended: str

    @property
    def key(self) -> TrialKey:
        return TrialKey.of(self.cell, self.seed)


class Ledger:
    """Open with `Ledger.open`, as a context manager: one process at a time writes to a run."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    @classmethod
    @contextmanager
    def open(cls, folder: str | Path | None, identity: dict[str, Any], about: dict[str, Any]) -> Iterator[Ledger]:
        """The ledger of a new run, or of one that is to be resumed; kept in memory alone when there is no folder.

        `identity` is all that results depend on (figure, protocol, variant, versions that matter); a folder that holds
        another identity is refused. `about` is for readers (command, versions, machine) and kept from the start.
        """
        if folder is None:
            with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
                connection.executescript(SCHEMA)
                yield cls(connection)
            return
        folder = Path(folder)
        if folder.exists() and not folder.is_dir():
            raise InputError(f"{folder}: is a file; give a folder for the run")
        folder.mkdir(parents=True, exist_ok=True)
        with _alone(folder), closing(sqlite3.connect(folder / FILE, isolation_level=None)) as connection:
            try:
                connection.execute("PRAGMA journal_mode = WAL")
                connection.execute("PRAGMA synchronous = FULL")
                connection.executescript(SCHEMA)
                _claim(connection, folder, identity, about)
                yield cls(connection)
            except sqlite3.DatabaseError as error:
                raise InputError(f"{folder / FILE}: cannot be used as a ledger ({error})") from None

    @classmethod
    def read(cls, folder: str | Path) -> tuple[dict[str, Any], list[TrialRow]]:
        """What a run says of itself, and its trials; a run that is being written can be read."""
        path = Path(folder) / "ledger.sqlite"
        if not path.is_file():
            raise InputError(f"{folder}: not a run, ledger.sqlite missing; `rote reproduce FIGURE -o RUN` makes one")
        connection = sqlite3.connect(path, isolation_level=None)
        try:
            row = connection.execute("SELECT identity, about FROM run").fetchone()
            if row is None:
                raise InputError(f"{path}: says nothing of itself; start the run again in another folder")
            return {"identity": json.loads(row[0]), "about": json.loads(row[1])}, _rows(connection)
        except sqlite3.DatabaseError as error:
            raise InputError(f"{path}: cannot be read as a ledger ({error})") from None
        finally:
            connection.close()

    def done(self) -> set[TrialKey]:
        """Trials that have ended."""
        return {TrialKey(cell, seed) for cell, seed in self._connection.execute("SELECT cell, seed FROM trials")}

    def record(self, cell: dict[str, Any], seed: int, result: dict[str, Any], seconds: float) -> TrialRow:
        """Commit a trial that ended and give its row, as it will be read. A trial is recorded once."""
        ended = datetime.now(UTC).isoformat(timespec="seconds")
        values = (_canonical(cell), seed, json.dumps(result), seconds, ended)
        self._connection.execute("INSERT INTO trials VALUES (?, ?, ?, ?, ?)", values)
        return _row(*values)

    def rows(self) -> list[TrialRow]:
        """Every trial, ordered by cell and seed, whatever order they ended in."""
        return _rows(self._connection)


def _rows(connection: sqlite3.Connection) -> list[TrialRow]:
    columns = connection.execute("SELECT cell, seed, result, seconds, ended FROM trials ORDER BY cell, seed")
    return [_row(*values) for values in columns]


def _row(cell: str, seed: int, result: str, seconds: float, ended: str) -> TrialRow:
    return TrialRow(json.loads(cell), seed, json.loads(result), seconds, ended)


def _claim(connection: sqlite3.Connection, folder: Path, identity: dict[str, Any], about: dict[str, Any]) -> None:
    wanted = _canonical(identity)
    row = connection.execute("SELECT format, identity FROM run").fetchone()
    if row is None:
        connection.execute("INSERT INTO run VALUES (?, ?, ?)", (FORMAT, wanted, json.dumps(about)))
        return
    if row[0] != FORMAT:
        raise InputError(f"{folder}: its ledger has format {row[0]}, this version writes {FORMAT}; use another folder")
    if row[1] != wanted:
        kept = json.loads(row[1])
        names = sorted({*kept, *identity})
        differing = [name for name in names if kept.get(name) != identity.get(name)]
        shown = "; ".join(f"{name} {kept.get(name)!r}, now {identity.get(name)!r}" for name in differing[:3])
        raise InputError(f"{folder}: holds another run ({shown}); give another folder, or the same settings to resume")


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    with (folder / ".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise InputError(
                f"{folder}: another process is writing to this run; wait for it or use another folder"
            ) from None
        yield


def _canonical(content: dict[str, Any]) -> str:
    return json.dumps(content, sort_keys=True, separators=(",", ":"))
