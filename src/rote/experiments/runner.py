"""The one loop over a ledger: run what a plan wants, record each trial when it ends, give back the rows.

Figures, sweeps, the searches for capacity and for the densest shape, and the benchmarks are plans; what they do with
the rows is their own. A run that was killed has lost only the trials that had not ended, and the same plan with the
same folder goes on from there. A trial that fails is recorded with its reason and the others go on; it is tried again
when the run is resumed.
"""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from rote.errors import CheckFailed
from rote.experiments.executor import HERE, executor
from rote.experiments.ledgers.ledger import FailedTrial, Ledger, TrialKey, TrialRow
from rote.experiments.ledgers.rows import LedgerRows
from rote.experiments.part import RunPart
from rote.experiments.trainer import Trainer, TrialT
from rote.progress import SILENT, Progress
from rote.training.failure import Failed
from rote.version import __version__

Rows = Mapping[TrialKey, TrialRow]
"""Trials that ended, by name."""


class Schedule(Trainer[TrialT, dict[str, Any]], Protocol[TrialT]):
    """What a run consists of. It trains as well: what the ledger keeps of a trial is its result, as JSON."""

    @property
    def identity(self) -> dict[str, Any]:
        """All that results depend on besides cell and seed: a folder that holds another identity is refused."""
        ...

    @property
    def about(self) -> dict[str, Any]:
        """What else a new ledger says of the run, for readers."""
        ...

    @property
    def adaptive(self) -> bool:
        """Whether what is wanted depends on what ended, as in a search; else it is a list."""
        ...

    @property
    def trainer(self) -> Trainer[TrialT, dict[str, Any]]:
        """What trains the plan's trials on another machine."""
        ...

    def pending(self, rows: Rows) -> Sequence[TrialT]:
        """Trials that are to run, given those that ended: all that are missing, or the next ones of a search."""
        ...

    def finished(self, rows: Rows) -> Rows:
        """The plan's trials that ended, in the plan's order; others that the folder holds are left aside."""
        ...


@dataclass(frozen=True)
class RunRows:
    """What a plan's trials gave."""

    rows: Rows
    trained: int
    """Trials that ran now; the others were in the ledger."""
    failed: tuple[FailedTrial, ...] = ()
    """Trials that failed now, with their reasons."""


def run(
    schedule: Schedule[TrialT],
    folder: str | Path | None = None,
    *,
    workers: int | None = None,
    on: str = HERE,
    part: RunPart | None = None,
    progress: Progress = SILENT,
) -> RunRows:
    """Train what the ledger in `folder` does not hold yet and return every row; without a folder nothing is kept.

    `on` says where (`rote.experiments.executor`); of `part` of the plan nothing else is trained.
    """
    place = executor(on, workers)
    versions = {"rote": __version__, "machine": platform.machine(), "python": platform.python_version()}
    with Ledger.open(folder, schedule.identity, {**versions, **schedule.about}) as ledger:
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
                rows.add(ledger.record(trial.cell, trial.seed, result, seconds), trial.key)
        finished, trained = dict(schedule.finished(rows)), len(rows) - before
    if failed and not finished:
        first = next(iter(failed.values()))
        raise CheckFailed(f"none of {len(failed)} trials ended; {first.reason}")
    return RunRows(finished, trained, tuple(failed.values()))
