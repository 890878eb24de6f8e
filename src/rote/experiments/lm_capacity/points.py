"""Points of a capacity estimate as trials, each in a process with one thread."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing import get_context
from typing import Any

from rote.experiments.trial import PendingTrials, Trial, TrialOutcome
from rote.interrupts import be_a_child
from rote.lm.capacity.lora import Lora, adapted_subject
from rote.lm.capacity.point import LmCapacityPoint, measure_point
from rote.lm.capacity.strings import StringShape
from rote.lm.capacity.subjects import LmSizes
from rote.progress import Progress
from rote.training.failure import FAILURES, Failed
from rote.training.query_attention.train import one_thread


@dataclass(frozen=True)
class PointTrial(Trial):
    """One model to train: the number of strings, the steps, the learning rate and the seed."""

    strings: int
    steps: int
    rate: float
    seed: int

    @property
    def cell(self) -> dict[str, Any]:
        return {"strings": self.strings, "steps": self.steps, "rate": self.rate}


@dataclass(frozen=True)
class PointTrainer:
    """Trains points of one model. The model is named, not sent: every process makes its own."""

    model: str
    sizes: LmSizes
    shape: StringShape
    lora: Lora | None = None
    stage: str = "training"
    """The text that progress shows."""

    def train(
        self, pending: PendingTrials[PointTrial], workers: int | None, progress: Progress
    ) -> Iterator[TrialOutcome[PointTrial, LmCapacityPoint]]:
        trials = sorted(pending(), key=lambda trial: -trial.strings * trial.steps)
        with progress.stage(self.stage, len(trials)) as stage:
            for trial, point in self._points(trials, workers or os.cpu_count() or 1):
                stage.advance()
                yield trial, point, 0.0 if isinstance(point, Failed) else point.seconds

    def _points(self, trials: list[PointTrial], workers: int) -> Iterator[tuple[PointTrial, LmCapacityPoint | Failed]]:
        if workers == 1 or len(trials) < 2:
            for trial in trials:
                try:
                    yield trial, self.point(trial)
                except FAILURES as error:
                    yield trial, Failed(error)
            return
        lost = []
        for trial, point in self._in_processes(trials, workers):
            # A process killed by the system, usually for its memory, breaks the pool and fails the others with it.
            if isinstance(point, Failed) and isinstance(point.error, BrokenProcessPool):
                lost.append(trial)
            else:
                yield trial, point
        for trial in lost:
            yield from self._in_processes([trial], 1)

    def point(self, trial: PointTrial) -> LmCapacityPoint:
        made = adapted_subject(self.model, self.sizes, self.shape, self.lora)
        with one_thread():
            return measure_point(made, self.shape, trial.strings, trial.steps, trial.rate, trial.seed)

    def _in_processes(
        self, trials: list[PointTrial], workers: int
    ) -> Iterator[tuple[PointTrial, LmCapacityPoint | Failed]]:
        # Spawned: a fork of a process that has used torch's threads may hang.
        with ProcessPoolExecutor(min(workers, len(trials)), get_context("spawn"), be_a_child) as pool:
            running = {pool.submit(self.point, trial): trial for trial in trials}
            try:
                while running:
                    for done in wait(running, return_when=FIRST_COMPLETED).done:
                        yield running.pop(done), _outcome(done)
            finally:
                pool.shutdown(cancel_futures=True)


def _outcome(future: Future[LmCapacityPoint]) -> LmCapacityPoint | Failed:
    try:
        return future.result()
    except FAILURES as error:
        return Failed(error)
