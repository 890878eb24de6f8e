"""Ledgers of runs that a stranger wrote, or that something happened to: values, tables, files."""

from __future__ import annotations

import json
import os
import random
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

import rote
from hostile.texts import NAMES, WITH_NUL, damaged, json_bomb
from hostile.watch import Attempt
from rote.cli import main
from rote.experiments.ledgers.ledger import FILE
from rote.experiments.ledgers.schema import checksum

DEEP, DIGITS = 100_000, 10_000
ODD: tuple[object, ...] = (
    None, 0, -1, 2**63 - 1, -(2**63), 1.5, float("inf"), -1e308, b"\xff\x00", "", "x", "NaN", "null", "[]",
    "{}", "[[]]", '""', '{"a":1,"a":2}', '"\\ud800"', '{"\\ud800": "\\udfff"}', '{"spec": "\\u001b[31m"}',
    "[" * DEEP, '{"a":' * DEEP,
    "[" * 900 + "]" * 900, "9" * DIGITS, '{"trials": ' + "9" * DIGITS + "}", '{"trials": -5, "protocol": []}',
    '{"protocol": {}, "experiment": "dana2025.fig4", "kind": []}',
    '{"experiment": "dana2025.fig4", "protocol": "fast"}',
    '{"spec": [], "accuracy": []}', '{"spec": {"heads": "many", "dim": [], "vocab": 1e400}}',
    '{"accuracy": {"a": NaN}}', '{"spec": {"heads": -1, "dim": 9999999999, "architecture": 7}, "protocol": 3}',
    '{"accuracy": ' + "8" * 400 + "}",
    "2999-01-01T00:00:00+00:00", "9999-12-31T23:59:59-14:00", "0001-01-01T00:00:00+14:00", "2026-01-01", "tomorrow",
)  # fmt: skip
"""In the place of a value; those of SQLite's own types and JSON of every kind."""
VALUES = (
    ("run", "format"), ("run", "identity"), ("run", "identity"), ("run", "about"), ("cells", "cell"),
    ("trials", "cell"), ("trials", "seed"), ("trials", "seconds"), ("trials", "ended"), ("trials", "checksum"),
    ("results", "result"),
    ("results", "result"), ("failures", "reason"), ("failures", "seed"), ("failures", "ended"),
)  # fmt: skip
ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
OBJECTS = (
    f"DROP TABLE trials; CREATE VIEW trials AS {ENDLESS} "
    "SELECT i AS id, 1 AS cell, i AS seed, 0.0 AS seconds, '' AS ended, 0 AS checksum FROM n",
    f"DROP TABLE run; CREATE VIEW run AS {ENDLESS} SELECT max(i) AS format, '{{}}' AS identity, '{{}}' AS about FROM n",
    f"ALTER TABLE results RENAME TO r; CREATE VIEW results AS {ENDLESS} SELECT i AS trial, '{{}}' AS result FROM n",
    f"CREATE TRIGGER t AFTER INSERT ON trials BEGIN INSERT INTO failures {ENDLESS} SELECT 1, i, '', '' FROM n; END",
    "DROP TABLE cells; CREATE TABLE cells (id INTEGER PRIMARY KEY, "
    "cell TEXT GENERATED ALWAYS AS (hex(zeroblob(100000000))))",
    "ALTER TABLE trials ADD COLUMN more TEXT", "DROP TABLE failures", "CREATE TABLE more (a, b)", "DELETE FROM run",
    "INSERT INTO run SELECT * FROM run", "DROP INDEX trial_names", "PRAGMA user_version = 9",
    "PRAGMA encoding = 'UTF-16'", "DELETE FROM cells", "DELETE FROM results", "UPDATE trials SET cell = 1",
    "UPDATE run SET format = 1",
)  # fmt: skip
COMMANDS: tuple[list[str], ...] = (
    ["runs", "list", "{given}"], ["runs", "list", "{given}", "--json"], ["runs", "show", "{run}"],
    ["runs", "show", "{run}", "--json"], ["runs", "fit", "{run}"], ["runs", "export", "{run}", "-o", "out.csv"],
    ["runs", "export", "{run}", "-o", "out.parquet"], ["runs", "diff", "{run}", "{other}"],
    ["runs", "merge", "{run}", "{other}", "-o", "merged"], ["report", "{run}", "-o", "report.html"],
)  # fmt: skip


class Ledgers:
    """Runs, read by every command that reads one."""

    name = "ledgers"

    def __init__(self, store: Path) -> None:
        """Make the runs that are damaged, below `store`."""
        self._runs = [store / "sweep", store / "figure"]
        store.mkdir(parents=True)
        rote.sweep({"vocab": 6, "context": 2, "dim": 3, "head_dim": 2, "heads": "1:4"}, folder=self._runs[0], seeds=2,
                   steps=5)  # fmt: skip
        self._as_figure(self._runs[0], self._runs[1])

    @staticmethod
    def _as_figure(run: Path, to: Path) -> None:
        """The same trials under the name of a published figure, whose verdicts are then computed of them."""
        to.mkdir()
        shutil.copy(run / FILE, to / FILE)
        with closing(sqlite3.connect(to / FILE)) as ledger:
            identity = json.dumps({"experiment": "dana2025.fig4", "protocol": "fast", "format": 1})
            ledger.execute("UPDATE run SET identity = ?", (identity,))
            ledger.execute("INSERT INTO failures SELECT id, 7, 'out of memory', '2026-01-01T00:00:00+00:00' FROM cells")
            ledger.commit()

    def harmed(self, rng: random.Random, run: Path) -> None:
        """Write a run that means harm."""
        run.mkdir()
        shutil.copy(rng.choice(self._runs) / FILE, run / FILE)
        rng.choice((_value, _value, _value, _value, _values, _table, _bytes, _bit, _bit, _file))(run / FILE, rng)

    def bad(self, rng: random.Random, given: Path) -> Attempt:
        run, other = given / "run", self._runs[0]
        self.harmed(rng, run)
        words = [word.format(run=run, given=given, other=other) for word in rng.choice(COMMANDS)]

        def attempt() -> bool:
            code = main(words)
            if code not in (0, 1, 2):
                raise AssertionError(f"{words}: exit code {code}")
            return code != 2

        return attempt


def _value(file: Path, rng: random.Random, count: int = 1) -> None:
    """Values replaced; checksums are computed anew, as whoever means harm would."""
    with closing(sqlite3.connect(file)) as ledger, suppress(sqlite3.Error, OverflowError):
        for _ in range(count):
            table, column = rng.choice(VALUES)
            value = rng.choice((*ODD, *WITH_NUL[:20], _content(rng)))
            some = "" if rng.random() < 0.5 else " WHERE rowid % 2" if table != "failures" else " WHERE seed = 7"
            with suppress(sqlite3.IntegrityError, UnicodeEncodeError):
                ledger.execute(f"UPDATE {table} SET {column} = ?{some}", (value,))
        if rng.random() < 0.9:
            ledger.create_function("checksum", 4, _checksum)
            joined = "FROM cells JOIN results ON results.trial = trials.id WHERE cells.id = trials.cell"
            ledger.execute(
                f"UPDATE trials SET checksum = (SELECT checksum(cells.cell, seed, result, seconds) {joined}) "
                f"WHERE EXISTS (SELECT 1 {joined})"
            )
        ledger.commit()


def _checksum(*values: object) -> int:
    try:
        return checksum(*values)  # pyright: ignore[reportArgumentType]
    except UnicodeEncodeError:
        return 0


def _values(file: Path, rng: random.Random) -> None:
    _value(file, rng, rng.randrange(2, 8))


def _content(rng: random.Random) -> str:
    """Names that rote knows with values that it does not expect."""
    names = ("spec", "accuracy", "heads", "dim", "vocab", "protocol", "experiment", "kind", "trials", "seconds",
             "curve", "mean_square", "held", "sampled_accuracy", "engine", "texts", "positions", "format")  # fmt: skip
    values = (
        None,
        True,
        -1,
        10**300,
        1.5,
        float("nan"),
        float("inf"),
        [],
        {},
        [[1, 2], 3],
        {"a": {"b": []}},
        *NAMES[:30],
    )
    return json.dumps({rng.choice(names): rng.choice(values) for _ in range(rng.randrange(6))})


def _table(file: Path, rng: random.Random) -> None:
    with closing(sqlite3.connect(file)) as ledger, suppress(sqlite3.Error):
        ledger.executescript(rng.choice(OBJECTS))


def _bytes(file: Path, rng: random.Random) -> None:
    file.write_bytes(damaged(file.read_bytes(), rng) if rng.random() < 0.8 else json_bomb(rng))


def _bit(file: Path, rng: random.Random) -> None:
    data = bytearray(file.read_bytes())
    for _ in range(rng.choice((1, 1, 1, 4, 60))):
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    file.write_bytes(data)


def _file(file: Path, rng: random.Random) -> None:
    """Something else in the file's place, or beside it."""
    kind = rng.choice(("link", "pipe", "folder", "device", "sparse", "empty", "wal", "loop"))
    if kind == "wal":
        file.with_name(f"{FILE}-wal").write_bytes(rng.randbytes(rng.choice((0, 32, 5000))))
        return
    data = file.read_bytes()
    file.unlink()
    makers: dict[str, Callable[[], object]] = {
        "link": lambda: (file.with_name("else").write_bytes(data), file.symlink_to("else")),
        "pipe": lambda: os.mkfifo(file),
        "folder": file.mkdir,
        "device": lambda: file.symlink_to("/dev/zero"),
        "sparse": lambda: (file.write_bytes(data), os.truncate(file, 2**40)),
        "empty": lambda: file.write_bytes(b""),
        "loop": lambda: file.symlink_to(file.name),
    }
    makers[kind]()
