"""The SQL schema of a ledger, the migrations from older formats, and the integrity check.

A cell's text is stored once for all its seeds. Results are in a table of their own, so that counting, filtering and
finding pending trials never read them. Each trial has a checksum of its content.
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
    """Checksum of everything stored of a trial except the time of day."""
    return zlib.crc32(f"{cell}\n{seed}\n{result}\n{seconds!r}".encode())


def create(connection: sqlite3.Connection, identity: str = "{}", about: str = "{}") -> None:
    """Create the tables of a new ledger with its identity and description, in one transaction."""
    connection.execute("BEGIN IMMEDIATE")
    for statement in TABLES.split(";"):
        connection.execute(statement)
    connection.execute("INSERT INTO run VALUES (?, ?, ?)", (FORMAT, identity, about))
    connection.execute("COMMIT")


def format_of(connection: sqlite3.Connection, path: Path) -> int | None:
    """The format of a ledger; None if it is empty."""
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if not tables:
        return None
    row = connection.execute("SELECT format FROM run").fetchone() if "run" in tables else None
    if row is None:
        raise damaged(path, "it does not name its run")
    return row[0]


def migrate(connection: sqlite3.Connection, path: Path) -> None:
    """Migrate a ledger of an older format to this one, in one transaction."""
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
    """Raise an error if the file is damaged: nothing of it is used then."""
    problem = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
    if problem != "ok":
        raise damaged(path, problem)


def damaged(path: Path, problem: str) -> InputError:
    return InputError(
        f"{path}: is damaged ({problem}) and nothing of it is used; restore a copy of it, or start in another folder"
    )
