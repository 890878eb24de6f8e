"""The executor on a Ray cluster: Ray tasks of one core, each a batch of trials that takes seconds.

Ray places the tasks. This module chooses the batches, so that the overhead of a task stays small, and recovers a batch
that was lost with its worker or its node: each of its trials runs again, alone, so that a trial that kills its worker
is distinguished from the others of its batch. The driver holds the ledger; a killed driver resumes from it.
"""

from __future__ import annotations

import logging
import math
import os
import sys
import time
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, field
from typing import Any, Generic

from rote.errors import InputError, RoteError
from rote.experiments.ledgers.ledger import TrialKey
from rote.experiments.trial import PendingTrials, ResultT, Trainer, TrialOutcome, TrialT
from rote.progress import SILENT, Progress
from rote.training.failure import FAILURES, Failed
from rote.version import __version__

TASK_SECONDS = 3.0
"""Target duration of a task: long compared with its overhead of tens of milliseconds, short compared with a run."""
DRIVER_SECONDS = 0.02
"""Smallest duration of a task, per core of the cluster. The driver spends milliseconds per task, so with a thousand
cores it could not keep up with tasks of three seconds."""
AHEAD = 2
"""Submitted tasks per core of the cluster, so that no worker waits for the driver."""
CRASHES = 3
"""Number of worker deaths after which a trial counts as failed."""
LOOK_SECONDS = 5.0
"""Interval between looks at the size of the cluster, which may change."""


class WorkerLost(RoteError):
    """A trial's worker died in every attempt."""


@dataclass(frozen=True)
class RayExecutor:
    """Runs trials on the Ray cluster at `address`. Default: the one on this machine, or a new one."""

    address: str | None = None
    workers: int | None = None
    """Number of tasks at a time. Default: the number of cores of the cluster."""

    def run(
        self, trainer: Trainer[TrialT, ResultT], pending: PendingTrials[TrialT], adaptive: bool, progress: Progress
    ) -> Iterator[TrialOutcome[TrialT, ResultT]]:
        with self._connected() as ray, progress.stage("training on ray") as stage:
            tasks = _Tasks(ray, trainer, self.workers)
            try:
                trials = list(pending())
                while trials or tasks.unfinished:
                    trials = tasks.send(trials)
                    for outcome in tasks.ended():
                        stage.advance()
                        yield outcome
                    stage.describe(f"training on ray: {len(trials)} trials waiting, {len(tasks.running)} tasks sent")
                    if adaptive:
                        trials = [trial for trial in pending() if trial.key not in tasks.out]
            finally:
                tasks.cancel()

    @contextmanager
    def _connected(self) -> Iterator[Any]:
        """The ray module, connected until the trials have ended. An existing connection stays open."""
        # Without this, Ray reports its use over the network.
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
        import ray

        # Ray prints lost workers and nodes on standard output, which is for the command's own document.
        with redirect_stdout(sys.stderr):
            if ray.is_initialized():
                yield ray
                return
            try:
                ray.init(address=self.address, log_to_driver=False, logging_level=logging.ERROR)
            except (ConnectionError, RuntimeError, ValueError) as error:
                where = self.address or "this machine"
                reason = " ".join(str(error).split())[:200]
                raise InputError(
                    f"`on`: no Ray cluster answers at {where} ({reason}); check with `ray status` that one runs there"
                ) from None
            try:
                yield ray
            finally:
                ray.shutdown()


@dataclass
class _Tasks(Generic[TrialT, ResultT]):
    """The submitted tasks, and the size of the next ones."""

    ray: Any
    trainer: Trainer[TrialT, ResultT]
    workers: int | None
    running: dict[Any, list[TrialT]] = field(default_factory=dict)
    seconds: float | None = None
    """Recent duration of a trial."""

    def __post_init__(self) -> None:
        self._shipped = self.ray.put(self.trainer)
        # A lost batch is retried here, trial by trial; Ray alone would retry one that exhausts memory for ever.
        self._remote = self.ray.remote(num_cpus=1, max_retries=0)(trained_batch)
        self._lost: deque[TrialT] = deque()
        self._crashes: Counter[TrialKey] = Counter()
        self._looked, self._slots = -math.inf, self.workers or 1

    @property
    def unfinished(self) -> bool:
        """True while tasks run or lost trials wait."""
        return bool(self.running or self._lost)

    @property
    def out(self) -> set[TrialKey]:
        """Keys of the trials that run or were lost and wait."""
        return {trial.key for trials in (*self.running.values(), self._lost) for trial in trials}

    def send(self, trials: list[TrialT]) -> list[TrialT]:
        """Fill the cluster with tasks from the front of the list and return the trials that wait."""
        self._look()
        sent = 0
        while len(self.running) < self._slots and (self._lost or sent < len(trials)):
            if self._lost:
                batch = [self._lost.popleft()]
            else:
                batch = trials[sent : sent + self._batch(len(trials) - sent)]
                sent += len(batch)
            self.running[self._remote.remote(self._shipped, batch, __version__)] = batch
        return trials[sent:]

    def ended(self) -> Iterator[TrialOutcome[TrialT, ResultT]]:
        """Yield the outcomes of ended tasks, after waiting a few seconds for one."""
        ready, _ = self.ray.wait(list(self.running), num_returns=1, timeout=LOOK_SECONDS)
        for reference in ready:
            batch = self.running.pop(reference)
            try:
                results, seconds = self.ray.get(reference)
            except self.ray.exceptions.RayTaskError as error:
                # Raised by the task itself: a bug, or a node with another version of rote.
                raise error.as_instanceof_cause() from None
            except self.ray.exceptions.RayError as error:
                yield from self._again(batch, error)
                continue
            each = seconds / len(batch)
            self.seconds = each if self.seconds is None else (self.seconds + each) / 2
            for trial, (result, cpu_seconds) in zip(batch, results, strict=True):
                yield trial, result, cpu_seconds

    def cancel(self) -> None:
        for reference in self.running:
            self.ray.cancel(reference, force=True)

    def _again(self, batch: Sequence[TrialT], error: Exception) -> Iterator[TrialOutcome[TrialT, ResultT]]:
        for trial in batch:
            self._crashes[trial.key] += 1
            if self._crashes[trial.key] < CRASHES:
                self._lost.append(trial)
            else:
                reason = f"its worker died {CRASHES} times, out of memory or killed ({type(error).__name__})"
                yield trial, Failed(WorkerLost(reason)), 0.0

    def _batch(self, waiting: int) -> int:
        """Number of trials in the next task: a few seconds of work, but never so many that other workers idle."""
        if self.seconds is None:
            return 1
        share = math.ceil(waiting / (AHEAD * self._slots))
        worth = max(TASK_SECONDS, DRIVER_SECONDS * self._slots / AHEAD)
        return max(1, min(share, int(worth / max(self.seconds, 1e-6))))

    def _look(self) -> None:
        if self.workers is None and time.monotonic() - self._looked > LOOK_SECONDS:
            self._looked, cores = time.monotonic(), int(self.ray.cluster_resources().get("CPU", 0))
            self._slots = AHEAD * max(1, cores)


def trained_batch(
    trainer: Trainer[TrialT, ResultT], trials: Sequence[TrialT], version: str
) -> tuple[list[tuple[ResultT | Failed, float]], float]:
    """The results of a batch in its order, each with its CPU seconds, and the wall-clock time of the batch."""
    if version != __version__:
        raise InputError(f"a node of the cluster has rote {__version__} and the driver {version}; install one of them")
    import torch

    # One thread per worker, as on one machine, whatever a node was started with.
    torch.set_num_threads(1)
    began = time.perf_counter()
    return _results(trainer, trials), time.perf_counter() - began


def _results(trainer: Trainer[TrialT, ResultT], trials: Sequence[TrialT]) -> list[tuple[ResultT | Failed, float]]:
    ended: dict[TrialKey, tuple[ResultT | Failed, float]] = {}

    def missing() -> list[TrialT]:
        return [trial for trial in trials if trial.key not in ended]

    try:
        for trial, result, seconds in trainer.train(missing, 1, SILENT):
            ended[trial.key] = result, seconds
    except FAILURES as error:
        if len(trials) == 1:
            return [(Failed(error), 0.0)]
        return [result for trial in trials for result in _results(trainer, [trial])]
    return [ended[trial.key] for trial in trials]
