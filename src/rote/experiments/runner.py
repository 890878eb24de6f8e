"""The one loop over a ledger: run what a plan wants, record each trial when it ends, give back the rows.

Figures, sweeps, the searches for capacity and for the densest shape, and the benchmarks are plans; what they do with
the rows is their own. A run that was killed has lost only the trials that had not ended, and the same plan with the
same folder goes on from there.
"""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar, runtime_checkable

from rote import __version__
from rote.experiments.ledger import Ledger, TrialKey, TrialRow
from rote.progress import SILENT, Progress

Rows = Mapping[TrialKey, TrialRow]
"""Trials that ended, by name."""


@runtime_checkable
class NamedTrial(Protocol):
    """A trial of any kind: named by its cell and its seed."""

    @property
    def cell(self) -> dict[str, Any]: ...

    @property
    def seed(self) -> int: ...

    @property
    def key(self) -> TrialKey: ...


TrialT = TypeVar("TrialT", bound=NamedTrial)

Ask = Callable[[], Sequence[TrialT]]
"""Gives the trials that are wanted, most urgent first; those that are running may be among them."""


class Plan(Protocol[TrialT]):
    """What a run consists of."""

    @property
    def identity(self) -> dict[str, Any]:
        """All that results depend on besides cell and seed: a folder that holds another identity is refused."""
        ...

    @property
    def about(self) -> dict[str, Any]:
        """What else a new ledger says of the run, for readers."""
        ...

    def wanted(self, rows: Rows) -> Sequence[TrialT]:
        """Trials that are to run, given those that ended: all that are missing, or the next ones of a search."""
        ...

    def train(
        self, ask: Ask[TrialT], workers: int | None, progress: Progress
    ) -> Iterator[tuple[TrialT, dict[str, Any], float]]:
        """Each trial with what the ledger keeps of it (JSON) and its processor seconds, as soon as it ends.

        Every trial that was given back has been recorded when `ask` is called next.
        """
        ...

    def own(self, rows: Rows) -> Rows:
        """The plan's trials, in the plan's order; others that the folder holds are left aside."""
        ...


@dataclass(frozen=True)
class RunRows:
    """What a plan's trials gave."""

    rows: Rows
    trained: int
    """Trials that ran now; the others were in the ledger."""


def run(
    plan: Plan[TrialT],
    folder: str | Path | None = None,
    *,
    workers: int | None = None,
    progress: Progress = SILENT,
) -> RunRows:
    """Train what the ledger in `folder` does not hold yet and return every row; without a folder nothing is kept."""
    versions = {"rote": __version__, "machine": platform.machine(), "python": platform.python_version()}
    with Ledger.open(folder, plan.identity, {**versions, **plan.about}) as ledger:
        rows = {row.key: row for row in ledger.rows()}
        before = len(rows)
        for trial, result, seconds in plan.train(lambda: plan.wanted(rows), workers, progress):
            rows[trial.key] = ledger.record(trial.cell, trial.seed, result, seconds)
    return RunRows(plan.own(rows), len(rows) - before)
