"""Trials on a Ray cluster: core tasks, each a batch of trials that takes seconds.

Ray places the tasks. What is decided here is which trials make a batch, so that what a task costs beyond its trials
stays small, and what is to become of a batch that was lost with its worker or its node: each of its trials runs again,
alone, so that one that kills its worker is told from those that were beside it. The ledger is the driver's; a driver
that dies and is started again goes on from it.
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
from rote.experiments.trainer import PendingTrials, ResultT, Trainer, TrialOutcome, TrialT
from rote.progress import SILENT, Progress
from rote.training.failure import FAILURES, Failed
from rote.version import __version__

TASK_SECONDS = 3.0
"""What a task should take: long beside the tens of milliseconds that it costs, short beside a run."""
DRIVER_SECONDS = 0.02
"""What a task should take, at least, for each core of the cluster: the driver spends some milliseconds on each task, so
that on a thousand cores tasks of three seconds would keep it busier than it can be."""
AHEAD = 2
"""Tasks that are out at a time for each core of the cluster, so that no worker waits for the driver."""
CRASHES = 3
"""Times that a trial's worker may die before the trial counts as failed."""
LOOK_SECONDS = 5.0
"""How often the size of the cluster is asked for: nodes may come and go."""


class WorkerLost(RoteError):
    """A trial's worker died each time that it was tried."""


@dataclass(frozen=True)
class RayExecutor:
    """A Ray cluster by its address; without one, that which runs on this machine, or a new one."""

    address: str | None = None
    workers: int | None = None
    """Tasks at a time; as many as the cluster has cores for when absent."""

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
                    stage.describe(f"training on ray: {len(trials)} trials wait, {len(tasks.running)} tasks out")
                    if adaptive:
                        trials = [trial for trial in pending() if trial.key not in tasks.out]
            finally:
                tasks.cancel()

    @contextmanager
    def _connected(self) -> Iterator[Any]:
        """The ray module, connected until the trials have ended; one that its user connected stays so."""
        # Ray reports its use over the network unless it is told not to.
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
        import ray

        # What Ray says of lost workers and nodes it says on standard output, where a command's own document goes.
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
                    f"`on`: no Ray cluster answers at {where} ({reason}); `ray status` says whether one runs there"
                ) from None
            try:
                yield ray
            finally:
                ray.shutdown()


@dataclass
class _Tasks(Generic[TrialT, ResultT]):
    """Tasks that are out, and how large the next ones should be."""

    ray: Any
    trainer: Trainer[TrialT, ResultT]
    workers: int | None
    running: dict[Any, list[TrialT]] = field(default_factory=dict)
    seconds: float | None = None
    """What a trial took lately."""

    def __post_init__(self) -> None:
        self._shipped = self.ray.put(self.trainer)
        # A lost batch is tried again here, trial by trial; Ray alone would try one that exhausts memory for ever.
        self._remote = self.ray.remote(num_cpus=1, max_retries=0)(trained_batch)
        self._lost: deque[TrialT] = deque()
        self._crashes: Counter[TrialKey] = Counter()
        self._looked, self._slots = -math.inf, self.workers or 1

    @property
    def unfinished(self) -> bool:
        """Whether anything is under way, or will be again."""
        return bool(self.running or self._lost)

    @property
    def out(self) -> set[TrialKey]:
        """Trials that are under way, or will be again."""
        return {trial.key for trials in (*self.running.values(), self._lost) for trial in trials}

    def send(self, trials: list[TrialT]) -> list[TrialT]:
        """Fill the cluster with tasks from the front of the list; give back those that wait."""
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
        """Trials of tasks that have ended, waiting for one a while."""
        ready, _ = self.ray.wait(list(self.running), num_returns=1, timeout=LOOK_SECONDS)
        for reference in ready:
            batch = self.running.pop(reference)
            try:
                results, seconds = self.ray.get(reference)
            except self.ray.exceptions.RayTaskError as error:
                # What the task raised itself: a mistake in the program, or a node with another rote.
                raise error.as_instanceof_cause() from None
            except self.ray.exceptions.RayError as error:
                yield from self._again(batch, error)
                continue
            each = seconds / len(batch)
            self.seconds = each if self.seconds is None else (self.seconds + each) / 2
            for trial, (result, processor) in zip(batch, results, strict=True):
                yield trial, result, processor

    def cancel(self) -> None:
        """Leave nothing running that nobody waits for."""
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
        """Trials of the next task: some seconds' worth, but never so many that other workers go without."""
        if self.seconds is None:
            return 1
        share = math.ceil(waiting / (AHEAD * self._slots))
        worth = max(TASK_SECONDS, DRIVER_SECONDS * self._slots / AHEAD)
        return max(1, min(share, int(worth / max(self.seconds, 1e-6))))

    def _look(self) -> None:
        """How many tasks the cluster takes now."""
        if self.workers is None and time.monotonic() - self._looked > LOOK_SECONDS:
            self._looked, cores = time.monotonic(), int(self.ray.cluster_resources().get("CPU", 0))
            self._slots = AHEAD * max(1, cores)


def trained_batch(
    trainer: Trainer[TrialT, ResultT], trials: Sequence[TrialT], version: str
) -> tuple[list[tuple[ResultT | Failed, float]], float]:
    """The results of a batch in its order, each with its processor seconds, and the time that all took."""
    if version != __version__:
        raise InputError(f"a node of the cluster has rote {__version__} and the driver {version}; install one of them")
    import torch

    # As on one machine with one worker a core, whatever a node was started with.
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
