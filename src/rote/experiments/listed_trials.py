"""A list of trials as the runner asks for them: each evaluated by a function, one thread per trial."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic

from rote.experiments.executor import in_threads
from rote.experiments.runner import Rows
from rote.experiments.trial import PendingTrials, TrialOutcome, TrialT
from rote.progress import Progress


@dataclass(frozen=True)
class ListedTrials(Generic[TrialT]):
    """Trials that do not depend on one another. `record` gives what the ledger keeps of one, as JSON."""

    identity: dict[str, Any]
    """All that results depend on besides cell and seed."""
    trials: Sequence[TrialT]
    record: Callable[[TrialT], dict[str, Any]]
    """A function of a module, so that it can be sent to another machine; the CPU seconds are added to what it gives."""

    adaptive = False

    @property
    def about(self) -> dict[str, Any]:
        return {}

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
