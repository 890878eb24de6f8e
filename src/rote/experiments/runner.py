"""The runner: trains a schedule's pending trials, records each in the ledger when it ends, and returns all rows.

Figures, sweeps, searches, the capacity of language models, the seeds of one model and the benchmarks are schedules. A
killed run loses only the trials that were running: the same schedule with the same folder resumes from its ledger. A
failed trial is recorded with its reason while the others continue, and is tried again when the run resumes.

Machines that share no cluster run parts: `1/2` on one, `2/2` on the other. Trials are dealt out in the order of their
keys, so that the seeds of a cell go to different parts and all parts take about as long. `rote.experiments.runs.merge`
combines the ledgers.
"""

from __future__ import annotations

import platform
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Generic, Protocol

from rote.errors import CheckFailed, InputError
from rote.experiments.executor import HERE, executor, in_threads
from rote.experiments.ledgers.ledger import FailedTrial, Ledger, LedgerContents, TrialKey, TrialRow
from rote.experiments.trial import PendingTrials, ResultT, ResultT_co, Trainer, TrialOutcome, TrialT
from rote.progress import SILENT, Progress
from rote.training.failure import Failed
from rote.version import __version__


def ended_seeds(rows: Mapping[TrialKey, TrialRow]) -> Mapping[str, Set[int]]:
    """Seeds of the ended trials by the text of their cell, from any mapping of rows."""
    if isinstance(rows, LedgerRows):
        return rows.seeds
    seeds: dict[str, set[int]] = {}
    for key in rows:
        seeds.setdefault(key.cell, set()).add(key.seed)
    return seeds


class LedgerRows(Mapping[TrialKey, TrialRow]):
    """Rows of the ended trials, including those added since."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._seeds = ledger.seeds()
        self._rows: dict[TrialKey, TrialRow] | None = None

    @property
    def seeds(self) -> Mapping[str, Set[int]]:
        """Seeds of the ended trials by the text of their cell."""
        return self._seeds

    def add(self, row: TrialRow, key: TrialKey) -> None:
        """Add the row of a trial that was recorded in the ledger."""
        self._seeds.setdefault(key.cell, set()).add(key.seed)
        if self._rows is not None:
            self._rows[key] = row

    def __contains__(self, key: object) -> bool:
        return isinstance(key, TrialKey) and key.seed in self._seeds.get(key.cell, ())

    def __getitem__(self, key: TrialKey) -> TrialRow:
        return self._read()[key]

    def __iter__(self) -> Iterator[TrialKey]:
        return iter(self._read())

    def __len__(self) -> int:
        return sum(map(len, self._seeds.values()))

    def _read(self) -> dict[TrialKey, TrialRow]:
        if self._rows is None:
            self._rows = {row.key: row for row in self._ledger.rows()}
        return self._rows


@dataclass(frozen=True)
class RunPart:
    number: int
    parts: int

    @classmethod
    def read(cls, text: str) -> RunPart:
        """The part that a text such as `1/2` names."""
        match = re.fullmatch(r"(\d{1,6})/(\d{1,6})", text, re.ASCII)
        number, parts = (int(match[1]), int(match[2])) if match else (0, 0)
        if not 1 <= number <= parts:
            raise InputError(f"`part={text}`: must be a number and the number of parts, such as 1/2")
        return cls(number, parts)

    def of(self, schedule: Schedule[Any, Any]) -> frozenset[TrialKey]:
        """The keys of a schedule's trials in this part."""
        if schedule.adaptive:
            raise InputError(
                f"`part={self}`: a search chooses each trial by those that ended, so it cannot be divided; leave it out"
            )
        names = sorted(trial.key for trial in schedule.pending({}))
        return frozenset(names[self.number - 1 :: self.parts])

    def __str__(self) -> str:
        return f"{self.number}/{self.parts}"


Rows = Mapping[TrialKey, TrialRow]
"""Trials that ended, by key."""


class Schedule(Protocol[TrialT, ResultT_co]):
    """What a run consists of: its trials, which of them are pending, and what trains them."""

    @property
    def identity(self) -> dict[str, Any]:
        """Everything that results depend on besides cell and seed. A folder with another identity is rejected."""
        ...

    @property
    def about(self) -> dict[str, Any]:
        """What else a new ledger tells its readers about the run."""
        ...

    @property
    def adaptive(self) -> bool:
        """True for a search, whose pending trials depend on the ended ones; False for a fixed list."""
        ...

    @property
    def trainer(self) -> Trainer[TrialT, ResultT_co]:
        """What trains the trials; it is sent to other machines."""
        ...

    def pending(self, rows: Rows) -> Sequence[TrialT]:
        """Trials to run, given those that ended: all missing ones, or the next ones of a search."""
        ...

    def finished(self, rows: Rows) -> Rows:
        """The schedule's own ended trials, in its order; the folder may hold others."""
        ...


@dataclass(frozen=True)
class TrialList(Generic[TrialT, ResultT]):
    """A schedule of given trials; trials of equal content run once."""

    trials: Sequence[TrialT]
    trainer: Trainer[TrialT, ResultT]
    identity: dict[str, Any] = field(default_factory=dict)
    about: dict[str, Any] = field(default_factory=dict)

    adaptive = False

    def pending(self, rows: Rows) -> list[TrialT]:
        return [trial for key, trial in self._by_key().items() if key not in rows]

    def finished(self, rows: Rows) -> Rows:
        return {key: rows[key] for key in self._by_key() if key in rows}

    def _by_key(self) -> dict[TrialKey, TrialT]:
        return {trial.key: trial for trial in self.trials}


@dataclass(frozen=True)
class RunRows:
    rows: Rows
    trained: int
    """Trials that ran now; the others were in the ledger."""
    failed: tuple[FailedTrial, ...] = ()
    """Trials that failed now, with their reasons."""
    contents: LedgerContents = field(default_factory=LedgerContents)
    """All that the ledger holds, so that nobody reads it again."""


def as_recorded(result: Any) -> dict[str, Any]:
    return result


def run_ledger(
    folder: str | Path | None, identity: Mapping[str, Any] = {}, about: Mapping[str, Any] = {}
) -> AbstractContextManager[Ledger]:
    """The ledger of a run in `folder`, new or to be resumed; without a folder, one in memory."""
    versions = {"rote": __version__, "machine": platform.machine(), "python": platform.python_version()}
    return Ledger.open(folder, dict(identity), {**versions, **about})


def run(
    schedule: Schedule[TrialT, ResultT],
    folder: str | Path | Ledger | None = None,
    *,
    workers: int | None = None,
    on: str = HERE,
    part: RunPart | None = None,
    asked: Mapping[str, Any] | None = None,
    progress: Progress = SILENT,
    record: Callable[[ResultT], dict[str, Any]] = as_recorded,
) -> RunRows:
    """Train what the ledger in `folder` does not hold yet and return every row; without a folder nothing is kept.

    Schedules that follow one another share an open ledger (`run_ledger`) in place of a folder. `on` names the executor
    (`rote.experiments.executor`). With `part`, only that share of the trials is trained. `record` turns a result into
    the JSON that the ledger stores; it is called in this process as soon as a trial ends. `asked` says how each figure
    was asked for, by its id; the ledger records it.
    """
    place = executor(on, workers)
    own = not isinstance(folder, Ledger)
    with run_ledger(folder, schedule.identity, schedule.about) if own else nullcontext(folder) as ledger:
        if asked:
            ledger.record_asked(asked)
        rows = LedgerRows(ledger)
        before, failed = len(rows), {}
        chosen = None if part is None else part.of(schedule)

        def pending() -> Sequence[TrialT]:
            trials = schedule.pending(rows)
            if not failed and chosen is None:
                return trials
            return [trial for trial in trials if trial.key not in failed and (chosen is None or trial.key in chosen)]

        for trial, result, seconds in place.run(schedule.trainer, pending, schedule.adaptive, progress):
            if isinstance(result, Failed):
                failed[trial.key] = ledger.record_failure(trial.key, result.reason)
            else:
                row = ledger.record(trial.cell, trial.seed, record(result), seconds)
                rows.add(row, trial.key)
                progress.record({**row.cell, "seed": row.seed, **row.result, "cpu_seconds": row.seconds})
        finished, trained = dict(schedule.finished(rows)), len(rows) - before
        contents = LedgerContents.of(ledger.overview(), rows)
    if failed and not finished:
        first = next(iter(failed.values()))
        raise CheckFailed(f"none of {len(failed)} trials ended; {first.reason}")
    return RunRows(finished, trained, tuple(failed.values()), contents)


@dataclass(frozen=True)
class ListedTrials(Generic[TrialT]):
    """Trials that do not depend on one another. `record` gives what the ledger keeps of one, as JSON."""

    identity: dict[str, Any]
    """All that results depend on besides cell and seed."""
    trials: Sequence[TrialT]
    record: Callable[[TrialT], dict[str, Any]]
    """A function of a module, so that it can be sent to another machine; the CPU seconds are added to what it gives."""

    about: dict[str, Any] = field(default_factory=dict)
    adaptive = False

    @property
    def trainer(self) -> ListedTrials[TrialT]:
        return replace(self, trials=())

    def pending(self, rows: Rows) -> Sequence[TrialT]:
        return [trial for trial in self.trials if trial.key not in rows]

    def finished(self, rows: Rows) -> Rows:
        return {trial.key: rows[trial.key] for trial in self.trials if trial.key in rows}

    def train(
        self, pending: PendingTrials[TrialT], workers: int | None, progress: Progress
    ) -> Iterator[TrialOutcome[TrialT, dict[str, Any]]]:
        return in_threads(pending, workers, progress, "evaluating", self._records, total=len(pending()))

    def _records(self, trials: list[TrialT]) -> list[dict[str, Any]]:
        return [self._record(trial) for trial in trials]

    def _record(self, trial: TrialT) -> dict[str, Any]:
        started = time.thread_time()
        return {**self.record(trial), "seconds": time.thread_time() - started}
