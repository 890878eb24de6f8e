"""Trials on vector tasks as a plan of the runner: the next ones may depend on those that ended.

What is wanted is a pure function of the rows so far, and it is asked whenever a worker is free: a grid wants all its
cells at once, a search one size at a time.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from typing import Any

from rote.errors import InputError
from rote.experiments.runner import Rows
from rote.experiments.vectors.training import trained_record
from rote.experiments.vectors.trial import Results, VectorTrial
from rote.experiments.where import Ask, Outcome
from rote.progress import Progress
from rote.training.failure import FAILURES, Failed


@dataclass(frozen=True)
class VectorRun:
    """Trials on vector tasks, one thread a trial."""

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

    def wanted(self, rows: Rows) -> Sequence[VectorTrial]:
        return self.next_trials({key: row.result for key, row in rows.items()})

    def train(
        self, ask: Ask[VectorTrial], workers: int | None, progress: Progress
    ) -> Iterator[Outcome[VectorTrial, dict[str, Any]]]:
        workers = os.cpu_count() or 1 if workers is None else workers
        if workers < 1:
            raise InputError(f"workers: {workers} must be at least 1")
        with ThreadPoolExecutor(workers, "rote-vectors") as pool, progress.stage("training") as stage:
            running: dict[Future[dict[str, Any]], VectorTrial] = {}
            ended = 0
            try:
                while True:
                    busy = {trial.key for trial in running.values()}
                    waiting = [trial for trial in ask() if trial.key not in busy]
                    for trial in waiting[: workers - len(running)]:
                        running[pool.submit(trained_record, trial)] = trial
                    if not running:
                        return
                    stage.describe(f"training: {ended} trials ended, {len(waiting)} known to be wanted")
                    for future in wait(running, return_when=FIRST_COMPLETED).done:
                        trial, result = running.pop(future), _outcome(future)
                        ended += 1
                        stage.advance()
                        yield trial, result, 0.0 if isinstance(result, Failed) else result["seconds"]
            finally:
                pool.shutdown(wait=False, cancel_futures=True)

    def own(self, rows: Rows) -> Rows:
        """Figures share a run, and a search finds its trials itself: every row is given."""
        return rows


def _none(results: Results) -> list[VectorTrial]:
    return []


def _outcome(future: Future[dict[str, Any]]) -> dict[str, Any] | Failed:
    try:
        return future.result()
    except FAILURES as error:
        return Failed(error)
