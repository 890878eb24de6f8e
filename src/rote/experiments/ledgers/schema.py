"""How a ledger keeps trials: its tables, the steps from older formats, and the check that it is whole.

A cell's text is kept once however many seeds it has. A trial's numbers and what it recorded stand apart, so that
counting, filtering and deciding what is left never read results. Each trial carries a checksum of its content.
"""

from __future__ import annotations

import sqlite3
import zlib
from pathlib import Path

from rote.errors import InputError

FORMAT = 2

TABLES = """
CREATE TABLE IF NOT EXISTS run (format INTEGER NOT NULL, identity TEXT NOT NULL, about TEXT NOT NULL);
CREATE TABLE cells (id INTEGER PRIMARY KEY, cell TEXT NOT NULL UNIQUE);
CREATE TABLE trials (
    id INTEGER PRIMARY KEY,
    cell INTEGER NOT NULL REFERENCES cells (id),
    seed INTEGER NOT NULL,
    seconds REAL NOT NULL,
    ended TEXT NOT NULL,
    checksum INTEGER NOT NULL
);
CREATE UNIQUE INDEX trial_names ON trials (cell, seed);
CREATE TABLE results (trial INTEGER PRIMARY KEY REFERENCES trials (id), result TEXT NOT NULL);
CREATE TABLE failures (
    cell INTEGER NOT NULL REFERENCES cells (id),
    seed INTEGER NOT NULL,
    reason TEXT NOT NULL,
    ended TEXT NOT NULL,
    PRIMARY KEY (cell, seed)
) WITHOUT ROWID;
"""


def checksum(cell: str, seed: int, result: str, seconds: float) -> int:
    """Of all that a trial keeps but the time of day."""
    return zlib.crc32(f"{cell}\n{seed}\n{result}\n{seconds!r}".encode())


def create(connection: sqlite3.Connection, identity: str = "{}", about: str = "{}") -> None:
    """The tables of a new ledger with what it says of itself, all of it or nothing."""
    connection.execute("BEGIN IMMEDIATE")
    for statement in TABLES.split(";"):
        connection.execute(statement)
    connection.execute("INSERT INTO run VALUES (?, ?, ?)", (FORMAT, identity, about))
    connection.execute("COMMIT")


def format_of(connection: sqlite3.Connection, path: Path) -> int | None:
    """The format that a ledger was written in; none when it is empty."""
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if not tables:
        return None
    row = connection.execute("SELECT format FROM run").fetchone() if "run" in tables else None
    if row is None:
        raise damaged(path, "it does not say which run it is of")
    return row[0]


def migrate(connection: sqlite3.Connection, path: Path) -> None:
    """Bring a ledger of an older format to this one, in one transaction; nothing is done to one of this format."""
    written = format_of(connection, path)
    if written in (None, FORMAT):
        return
    if written != 1:
        raise InputError(
            f"{path}: has format {written} and this rote reads up to {FORMAT}; use a newer rote, or another folder"
        )
    connection.create_function("checksum", 4, checksum, deterministic=True)
    connection.execute("BEGIN IMMEDIATE")
    try:
        connection.execute("ALTER TABLE trials RENAME TO trials_of_format_1")
        for statement in TABLES.split(";"):
            connection.execute(statement)
        connection.execute("INSERT INTO cells (cell) SELECT DISTINCT cell FROM trials_of_format_1 ORDER BY cell")
        connection.execute(
            "INSERT INTO trials (cell, seed, seconds, ended, checksum) SELECT cells.id, seed, seconds, ended, "
            "checksum(old.cell, seed, result, seconds) FROM trials_of_format_1 AS old JOIN cells USING (cell)"
        )
        connection.execute(
            "INSERT INTO results SELECT trials.id, result FROM trials_of_format_1 AS old "
            "JOIN cells USING (cell) JOIN trials ON trials.cell = cells.id AND trials.seed = old.seed"
        )
        connection.execute("DROP TABLE trials_of_format_1")
        connection.execute("UPDATE run SET format = ?", (FORMAT,))
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise


def check(connection: sqlite3.Connection, path: Path) -> None:
    """An error when the file's structure is damaged: nothing of it is used then."""
    problem = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
    if problem != "ok":
        raise damaged(path, problem)


def damaged(path: Path, problem: str) -> InputError:
    return InputError(
        f"{path}: is damaged ({problem}) and nothing of it is used; put back a copy of it, or start in another folder"
    )
