"""The ledger of a run: one SQLite row per trial, committed when the trial ends.

A run is a folder with `ledger.sqlite`. A killed run loses only the trials that were running; its ledger tells which
ones ended. A ledger belongs to one schedule of trials (its `identity`): results of different protocols are never
mixed. Failed trials are stored separately with their reasons, and are tried again when the run resumes.

Rows are ordered by key, or by when they were written; the time of day is informative only.
"""

from __future__ import annotations

import json
import math
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from rote.errors import InputError, cut
from rote.experiments.ledgers import schema as ledger_schema
from rote.experiments.ledgers.file import claim, for_reading, guard, refusal, refuse_planted, refuse_unlike
from rote.experiments.ledgers.lock import alone
from rote.interrupts import kept, no_longer_kept

FILE = "ledger.sqlite"
LONGEST_CELL = 2**16
"""Letters of a cell: every trial of it is checked against them."""


class TrialKey(NamedTuple):
    """The name of a trial: its cell of the grid, as canonical JSON, and its seed."""

    cell: str
    seed: int

    @classmethod
    def of(cls, cell: dict[str, Any], seed: int) -> TrialKey:
        return cls(canonical(cell), seed)


@dataclass(frozen=True)
class TrialRow:
    """A trial that ended."""

    cell: dict[str, Any]
    seed: int
    result: dict[str, Any]
    seconds: float
    """CPU time of the trial."""
    ended: str

    @property
    def key(self) -> TrialKey:
        return TrialKey.of(self.cell, self.seed)


@dataclass(frozen=True)
class FailedTrial:
    """A trial that failed, and why."""

    key: TrialKey
    reason: str
    ended: str


@dataclass(frozen=True)
class LedgerOverview:
    """Summary of a ledger, without its results."""

    identity: dict[str, Any]
    about: dict[str, Any]
    trials: int
    failed: int
    seconds: float
    """CPU time of its trials."""
    last_ended: str | None
    """When the last recorded trial ended, by the clock of its machine."""


@dataclass(frozen=True)
class LedgerContents:
    """All that a ledger says and holds, read once."""

    identity: dict[str, Any] = field(default_factory=dict)
    about: dict[str, Any] = field(default_factory=dict)
    rows: Mapping[TrialKey, TrialRow] = field(default_factory=dict)
    last_ended: str | None = None
    """When the trial that was recorded last ended, in ISO form."""

    @classmethod
    def of(cls, overview: LedgerOverview, rows: Mapping[TrialKey, TrialRow]) -> LedgerContents:
        return cls(overview.identity, overview.about, dict(rows), overview.last_ended)

    @property
    def ordered(self) -> list[TrialRow]:
        """Trials by cell and seed, whatever order they ended in."""
        return [self.rows[key] for key in sorted(self.rows)]


class Ledger:
    """The open ledger of a run. `Ledger.open` is a context manager: one process at a time writes to a run."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._connection, self._path = connection, path
        self._cells = self._numbers()

    @classmethod
    @contextmanager
    def open(cls, folder: str | Path | None, identity: dict[str, Any], about: dict[str, Any]) -> Iterator[Ledger]:
        """The ledger of a new run, or of one to resume; without a folder, one in memory.

        `identity` is everything that results depend on (figure, protocol, variant, format). A folder with another
        identity is rejected. `about` is for readers (command, versions, machine) and stored when the run starts.
        """
        if folder is None:
            with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
                ledger_schema.create(connection, canonical(identity), json.dumps(about))
                yield cls(connection, Path(FILE))
            return
        folder = Path(folder)
        if folder.exists() and not folder.is_dir():
            raise InputError(f"{folder}: is a file; give a folder for the run")
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / FILE
        refuse_unlike(path)
        refuse_planted(path)
        with alone(folder), closing(_connected(path)) as connection:
            try:
                guard(connection)
                connection.execute("PRAGMA journal_mode = WAL")
                connection.execute("PRAGMA synchronous = FULL")
                claim(connection, path, canonical(identity), json.dumps(about))
                kept(folder)
                yield cls(connection, path)
                no_longer_kept(folder)
            except sqlite3.DatabaseError as error:
                raise refusal(path, error) from None

    @classmethod
    @contextmanager
    def reading(cls, folder: str | Path, whole: bool = True) -> Iterator[Ledger]:
        """A read-only ledger, also of a run that is being written.

        With `whole` the complete file is checked first, which takes a second for a million trials. Rows are always
        checked when they are read.
        """
        path = Path(folder) / FILE
        if not os.path.lexists(path):
            raise InputError(f"{folder}: is not a run, {FILE} is missing; give the folder of a run")
        try:
            with for_reading(path, whole) as connection:
                # One transaction: several statements read the same state.
                connection.execute("BEGIN")
                yield cls(connection, path)
        except sqlite3.DatabaseError as error:
            raise refusal(path, error) from None

    @classmethod
    def read(cls, folder: str | Path) -> tuple[dict[str, Any], list[TrialRow]]:
        """The identity and description of a run, and its trials."""
        with cls.reading(folder) as ledger:
            identity, about = ledger.description()
            return {"identity": identity, "about": about}, ledger.rows()

    def description(self) -> tuple[dict[str, Any], dict[str, Any]]:
        identity, about = self._connection.execute("SELECT identity, about FROM run").fetchone()
        return self._object(identity, "identity"), self._object(about, "description")

    def record_asked(self, asked: Mapping[str, Any]) -> None:
        """Keep how each figure was asked for last (quick or complete, repeats), by its id."""
        _, about = self.description()
        kept = {**about.get("asked", {}), **asked}
        if kept != about.get("asked"):
            with self._transaction():
                self._connection.execute("UPDATE run SET about = ?", (json.dumps({**about, "asked": kept}),))

    def overview(self) -> LedgerOverview:
        trials, seconds, last = self._connection.execute(
            "SELECT count(*), total(seconds), max(id) FROM trials"
        ).fetchone()
        ended = self._connection.execute("SELECT ended FROM trials WHERE id = ?", (last,)).fetchone()
        failed = self._connection.execute("SELECT count(*) FROM failures").fetchone()[0]
        last_ended = None if ended is None else self._moment(ended[0])
        return LedgerOverview(*self.description(), trials, failed, self._seconds(seconds), last_ended)

    def done(self) -> set[TrialKey]:
        return {TrialKey(cell, seed) for cell, seeds in self.seeds().items() for seed in seeds}

    def seeds(self) -> dict[str, set[int]]:
        """Seeds of the ended trials by the text of their cell; fast for a million trials."""
        texts = {number: cell for cell, number in self._cells.items()}
        named = self._connection.execute("SELECT cell, group_concat(seed) FROM trials GROUP BY cell")
        with self._intact("a trial"):
            return {texts[cell]: set(map(int, seeds.split(","))) for cell, seeds in named}

    def record(self, cell: dict[str, Any], seed: int, result: dict[str, Any], seconds: float) -> TrialRow:
        """Commit a trial that ended and return its row as it will be read. A trial is recorded once."""
        name, text, ended = canonical(cell), json.dumps(result), _now()
        with self._transaction():
            self._insert(name, seed, text, seconds, ended)
            self._connection.execute("DELETE FROM failures WHERE cell = ? AND seed = ?", (self._number(name), seed))
        return TrialRow(json.loads(name), seed, json.loads(text), seconds, ended)

    def record_failure(self, key: TrialKey, reason: str) -> FailedTrial:
        """Commit the reason why a trial failed, in place of an earlier one."""
        failure = FailedTrial(key, reason, _now())
        with self._transaction():
            self._insert_failure(failure)
        return failure

    def copy(self, rows: Iterable[TrialRow], failures: Iterable[FailedTrial]) -> None:
        """Copy trials of other ledgers unchanged, in one transaction."""
        with self._transaction():
            for row in rows:
                self._insert(canonical(row.cell), row.seed, json.dumps(row.result), row.seconds, row.ended)
            for failure in failures:
                self._insert_failure(failure)

    def bytes(self) -> bytes:
        """The ledger as the bytes of its file."""
        return self._connection.serialize()

    def failures(self) -> list[FailedTrial]:
        """Trials that failed and have not ended since, ordered by cell and seed."""
        columns = self._connection.execute(
            "SELECT cells.cell, seed, reason, ended FROM failures JOIN cells ON cells.id = failures.cell ORDER BY 1, 2"
        )
        return [
            FailedTrial(
                TrialKey(canonical(self._object(cell, "cell")), self._seed(seed)), str(reason), self._moment(ended)
            )
            for cell, seed, reason, ended in columns
        ]

    def cells(self) -> list[tuple[dict[str, Any], int]]:
        """Every cell with the number of its ended trials, ordered by name."""
        trials = dict(self._connection.execute("SELECT cell, count(*) FROM trials GROUP BY cell"))
        return [(self._object(cell, "cell"), trials.get(self._cells[cell], 0)) for cell in sorted(self._cells)]

    def rows(self, cells: Sequence[dict[str, Any]] | None = None, most: int = -1) -> list[TrialRow]:
        """Rows ordered by cell and seed: all, those of some `cells`, or the first `most`."""
        chosen = "" if cells is None else "WHERE trials.cell IN (SELECT value FROM json_each(?)) "
        numbers = [] if cells is None else [json.dumps([self._cells[canonical(cell)] for cell in cells])]
        columns = self._connection.execute(
            "SELECT cells.id, seed, result, seconds, ended, checksum FROM cells "
            "JOIN trials ON trials.cell = cells.id "
            f"JOIN results ON results.trial = trials.id {chosen}ORDER BY cells.cell, seed LIMIT ?",
            (*numbers, most),
        )
        # A cell is parsed once, however many seeds it has.
        texts, parsed = {number: cell for cell, number in self._cells.items()}, {}
        rows = []
        for number, seed, result, seconds, ended, checksum in columns:
            cell, content = texts[number], self._object(result, "result")
            if ledger_schema.checksum(cell, self._seed(seed), result, self._seconds(seconds)) != checksum:
                raise ledger_schema.damaged(self._path, f"the trial of seed {seed} of {cell} is not what was written")
            if number not in parsed:
                parsed[number] = self._object(cell, "cell")
            rows.append(TrialRow(parsed[number], seed, content, seconds, self._moment(ended)))
        return rows

    def _object(self, text: Any, what: str) -> dict[str, Any]:
        """JSON of the ledger, which must be names and values."""
        with self._intact(f"a {what}"):
            content = json.loads(text) if isinstance(text, str) else None
            if isinstance(content, dict):
                if "\\u" in text:
                    canonical_text(content)
                return content
        raise ledger_schema.damaged(self._path, f"a {what} is not what was written")

    def _seed(self, seed: Any) -> int:
        if type(seed) is not int or seed < 0:
            raise ledger_schema.damaged(self._path, f"a seed is {cut(repr(seed))}")
        return seed

    def _seconds(self, seconds: Any) -> float:
        if not isinstance(seconds, int | float) or not 0 <= seconds < math.inf:
            raise ledger_schema.damaged(self._path, f"the time of a trial is {cut(repr(seconds))}")
        return seconds

    def _moment(self, ended: Any) -> str:
        """A time of day in ISO form, as it stands; any clock may have been wrong, but a time it must be."""
        with self._intact("the time at which a trial ended"):
            if isinstance(ended, str) and len(ended) <= 40:
                moment = datetime.fromisoformat(ended)
                if moment.tzinfo is not None and moment.astimezone(UTC):
                    return ended
        raise ledger_schema.damaged(self._path, f"a trial ended at {cut(repr(ended))}")

    @contextmanager
    def _intact(self, what: str) -> Iterator[None]:
        try:
            yield
        except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
            problem = cut(" ".join(str(error).split()))
            raise ledger_schema.damaged(self._path, f"{what} is not what was written: {problem}") from None

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._connection.execute("COMMIT")
        except BaseException:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            self._cells = self._numbers()
            raise

    def _insert(self, cell: str, seed: int, result: str, seconds: float, ended: str) -> None:
        values = (self._number(cell), seed, seconds, ended, ledger_schema.checksum(cell, seed, result, seconds))
        written = self._connection.execute(
            "INSERT INTO trials (cell, seed, seconds, ended, checksum) VALUES (?, ?, ?, ?, ?)", values
        )
        self._connection.execute("INSERT INTO results VALUES (?, ?)", (written.lastrowid, result))

    def _insert_failure(self, failure: FailedTrial) -> None:
        values = (self._number(failure.key.cell), failure.key.seed, failure.reason, failure.ended)
        self._connection.execute("INSERT OR REPLACE INTO failures VALUES (?, ?, ?, ?)", values)

    def _numbers(self) -> dict[str, int]:
        found = dict(self._connection.execute("SELECT cell, id FROM cells"))
        if any(not isinstance(cell, str) or len(cell) > LONGEST_CELL for cell in found):
            raise ledger_schema.damaged(self._path, f"a cell is no text of at most {LONGEST_CELL:,} letters")
        return found

    def _number(self, cell: str) -> int:
        """The cell's number, given when its first trial is recorded."""
        if cell not in self._cells:
            written = self._connection.execute("INSERT INTO cells (cell) VALUES (?)", (cell,))
            self._cells[cell] = written.lastrowid or 0
        return self._cells[cell]


def _connected(path: Path) -> sqlite3.Connection:
    """A connection to a ledger's file, which is created if it is missing."""
    try:
        return sqlite3.connect(path, isolation_level=None)
    except sqlite3.OperationalError as error:
        raise refusal(path, error) from None


def canonical(content: dict[str, Any]) -> str:
    """JSON text that is equal for equal content."""
    return json.dumps(content, sort_keys=True, separators=(",", ":"))


def canonical_text(content: Any) -> None:
    """An error where text of a JSON document is half a surrogate pair, which no screen and no file takes."""
    json.dumps(content, ensure_ascii=False).encode()


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
