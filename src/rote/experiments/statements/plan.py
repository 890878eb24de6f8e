"""What the check of a statement consists of, and its run: every cell, one thread a cell."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rote.errors import InputError
from rote.experiments.pool import in_threads
from rote.experiments.runner import Rows
from rote.experiments.statements.trial import StatementTrial, measured_record
from rote.experiments.trainer import PendingTrials, TrialOutcome
from rote.papers.statements import Statement, StatementCell
from rote.progress import Progress

FORMAT = 1
"""Raised when trials of the same name would come out otherwise: older runs are then not resumed."""


@dataclass(frozen=True)
class StatementTrainer:
    """Evaluates cells."""

    def train(
        self, pending: PendingTrials[StatementTrial], workers: int | None, progress: Progress
    ) -> Iterator[TrialOutcome[StatementTrial, dict[str, Any]]]:
        def work(trials: list[StatementTrial]) -> list[dict[str, Any]]:
            return [measured_record(trial) for trial in trials]

        return in_threads(pending, workers, progress, "evaluating", work, total=len(pending()))


@dataclass(frozen=True)
class StatementPlan:
    """A statement, and how it is run. It is a plan of the runner."""

    figure: Statement
    quick: bool
    repeats: int

    adaptive = False
    protocol = "fast"
    """Nothing is trained, so that there is no other."""

    @classmethod
    def of(cls, figure: Statement, *, quick: bool = False, repeats: int | None = None) -> StatementPlan:
        """`quick` keeps fewer cells and one seed; `repeats` is the statement's number when absent."""
        if repeats is None:
            repeats = 1 if quick else figure.repeats
        if repeats < 1:
            raise InputError(f"`repeats={repeats}`: must be at least 1")
        return cls(figure, quick, repeats)

    @property
    def run(self) -> str:
        """Names the run; statements about the same cells share one."""
        return self.figure.run or self.figure.id

    @property
    def default_folder(self) -> Path:
        return Path("runs") / self.run

    @property
    def identity(self) -> dict[str, Any]:
        return {"experiment": self.run, "protocol": self.protocol, "format": FORMAT}

    @property
    def about(self) -> dict[str, Any]:
        return {}

    @property
    def trainer(self) -> StatementTrainer:
        return StatementTrainer()

    @property
    def empty(self) -> bool:
        """Whether `quick` keeps nothing."""
        return not self.cells

    @property
    def cells(self) -> list[StatementCell]:
        return [cell for cell in self.figure.cells if not self.quick or cell.x in self.figure.quick]

    def trials(self) -> list[tuple[StatementCell, StatementTrial]]:
        """Every cell with each seed."""
        return [(cell, StatementTrial(cell.setting, seed)) for cell in self.cells for seed in range(self.repeats)]

    def pending(self, rows: Rows) -> Sequence[StatementTrial]:
        return [trial for _, trial in self.trials() if trial.key not in rows]

    def finished(self, rows: Rows) -> Rows:
        return {trial.key: rows[trial.key] for _, trial in self.trials() if trial.key in rows}

    def train(
        self, pending: PendingTrials[StatementTrial], workers: int | None, progress: Progress
    ) -> Iterator[TrialOutcome[StatementTrial, dict[str, Any]]]:
        return self.trainer.train(pending, workers, progress)
