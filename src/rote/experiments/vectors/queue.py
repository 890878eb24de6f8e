"""Trials on vector tasks as the runner asks for them: the next ones may depend on those that ended.

What is wanted is a pure function of the rows so far, and it is asked whenever a worker is free: a grid wants all its
cells at once, a search one size at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rote.experiments.pool import in_threads
from rote.experiments.runner import Rows
from rote.experiments.trainer import PendingTrials, TrialOutcome
from rote.experiments.vectors.result import Results, VectorResult
from rote.experiments.vectors.training import trained_record
from rote.experiments.vectors.trial import VectorTrial
from rote.progress import Progress


@dataclass(frozen=True)
class VectorRun:
    """Trials on vector tasks, one thread per trial."""

    identity: dict[str, Any]
    """All that results depend on besides cell and seed: a folder that holds another identity is refused."""
    next_trials: Callable[[Results], Sequence[VectorTrial]]
    """Trials to run next, most urgent first, given what ended ones recorded."""

    adaptive = True

    @property
    def about(self) -> dict[str, Any]:
        return {}

    @property
    def trainer(self) -> VectorRun:
        return replace(self, next_trials=_none)

    def pending(self, rows: Rows) -> Sequence[VectorTrial]:
        return self.next_trials({key: VectorResult.of(row.result) for key, row in rows.items()})

    def train(
        self, pending: PendingTrials[VectorTrial], workers: int | None, progress: Progress
    ) -> Iterator[TrialOutcome[VectorTrial, dict[str, Any]]]:
        return in_threads(
            pending, workers, progress, "training", lambda trials: [trained_record(trial) for trial in trials]
        )

    def finished(self, rows: Rows) -> Rows:
        """Figures share a run, and a search finds its trials itself: every row is given."""
        return rows


def _none(results: Results) -> list[VectorTrial]:
    return []
