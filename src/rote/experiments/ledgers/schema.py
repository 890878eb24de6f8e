"""The SQL schema of a ledger, the migrations from older formats, and the integrity check.

A cell's text is stored once for all its seeds. Results are in a table of their own, so that counting, filtering and
finding pending trials never read them. Each trial has a checksum of its content.
"""

from __future__ import annotations

import re
import sqlite3
import zlib
from pathlib import Path

from rote.errors import InputError, cut

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


COLUMNS: dict[int, dict[str, tuple[str, ...]]] = {
    1: {"run": ("format", "identity", "about"), "trials": ("cell", "seed", "result", "seconds", "ended")},
    2: {
        "run": ("format", "identity", "about"),
        "cells": ("id", "cell"),
        "trials": ("id", "cell", "seed", "seconds", "ended", "checksum"),
        "results": ("trial", "result"),
        "failures": ("cell", "seed", "reason", "ended"),
    },
}
"""Tables of each format, with their columns."""
INDEXES = ("create unique index trial_names on trials (cell, seed)",)
_COMPUTED = re.compile(r"\b(virtual|check|default|generated|as|collate|on conflict)\b", re.IGNORECASE)
"""Words of a table's definition with which SQLite would compute something when a row is read or written."""


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
    """The format of a ledger; None if it is empty.

    Only the tables that rote creates are accepted: a view or a trigger in the place of one, a virtual table, or a
    column that is computed would run for as long as whoever made it likes.
    """
    objects = connection.execute("SELECT type, name, coalesce(sql, '') FROM sqlite_master LIMIT 64").fetchall()
    if not objects:
        return None
    tables = {str(name) for kind, name, _ in objects if kind == "table"}
    known = next((number for number, columns in COLUMNS.items() if tables == set(columns)), None)
    for kind, name, statement in objects:
        plain = " ".join(str(statement).split())
        fine = plain.lower() in INDEXES or (not plain and str(name).startswith("sqlite_autoindex_"))
        if kind == "table":
            fine = name in COLUMNS[FORMAT] and not _COMPUTED.search(plain)
        elif kind != "index":
            fine = False
        if not fine:
            raise InputError(f"{path}: holds a {kind} {cut(name)!r} that rote does not create; it is not rote's ledger")
    if "run" not in tables:
        raise damaged(path, "it does not name its run")
    row = connection.execute("SELECT format FROM run LIMIT 1").fetchone()
    if row is None or type(row[0]) is not int:
        raise damaged(path, "it does not name its run")
    if row[0] in COLUMNS and (known != row[0] or not _has_columns(connection, COLUMNS[row[0]])):
        raise damaged(path, "its tables are not those of its format")
    return row[0]


def _has_columns(connection: sqlite3.Connection, tables: dict[str, tuple[str, ...]]) -> bool:
    return all(
        [(name, hidden) for _, name, *_, hidden in connection.execute(f"PRAGMA table_xinfo({table})")]
        == [(name, 0) for name in columns]
        for table, columns in tables.items()
    )


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
    """The error about a ledger that is not as it was written."""
    return InputError(
        f"{path}: is damaged ({cut(problem)}) and nothing of it is used; restore a copy, or start in another folder"
    )
