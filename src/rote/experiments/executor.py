"""Executors: where trials run, on this machine or on a Ray cluster, with the same results.

`in_threads` is the thread pool of trials whose work releases the interpreter lock. Pending trials are looked up
whenever a thread is free, since they may depend on what ended. Nothing is queued ahead.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from importlib.util import find_spec
from operator import attrgetter
from typing import Any, Protocol

from rote.errors import InputError
from rote.experiments.trial import PendingTrials, ResultT, Trainer, TrialOutcome, TrialT
from rote.progress import Progress
from rote.training.failure import FAILURES, Failed
from rote.version import pip_install

Record = dict[str, Any]


def in_threads(
    pending: PendingTrials[TrialT],
    workers: int | None,
    progress: Progress,
    what: str,
    work: Callable[[list[TrialT]], list[Record]],
    stack: Callable[[TrialT], Hashable] = attrgetter("key"),
    total: int | None = None,
) -> Iterator[TrialOutcome[TrialT, Record]]:
    """Run trials until none is pending, and yield each with its record and its CPU seconds.

    Trials of one `stack` are worked on together by one thread; `work` returns one record per trial. `total` is the
    number of trials, if it is known.
    """
    workers = os.cpu_count() or 1 if workers is None else workers
    if workers < 1:
        raise InputError(f"`workers={workers}`: must be at least 1")
    with ThreadPoolExecutor(workers, f"rote-{what}") as pool, progress.stage(what, total) as stage:
        running: dict[Future[list[Record]], list[TrialT]] = {}
        ended = 0
        try:
            while True:
                busy = {stack(trials[0]) for trials in running.values()}
                waiting: dict[Hashable, list[TrialT]] = {}
                for trial in pending():
                    if (name := stack(trial)) not in busy:
                        waiting.setdefault(name, []).append(trial)
                for trials in list(waiting.values())[: workers - len(running)]:
                    running[pool.submit(work, trials)] = trials
                if not running:
                    return
                stage.describe(f"{what}: {ended} trials ended, {len(waiting)} pending")
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    for trial, record in _outcomes(running.pop(future), future):
                        ended += 1
                        stage.advance()
                        yield trial, record, 0.0 if isinstance(record, Failed) else record["seconds"]
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _outcomes(trials: list[TrialT], future: Future[list[Record]]) -> list[tuple[TrialT, Record | Failed]]:
    try:
        records = future.result()
    except FAILURES as error:
        return [(trial, Failed(error)) for trial in trials]
    return list(zip(trials, records, strict=True))


HERE = "here"
INSTALL = pip_install("cluster")


class Executor(Protocol):
    def run(
        self, trainer: Trainer[TrialT, ResultT], pending: PendingTrials[TrialT], adaptive: bool, progress: Progress
    ) -> Iterator[TrialOutcome[TrialT, ResultT]]:
        """Yield outcomes as `Trainer.train` does. `adaptive`: the pending trials depend on the ended ones."""
        ...


@dataclass(frozen=True)
class LocalExecutor:
    """Runs trials on this machine, on `workers` of its cores. Default: all of them."""

    workers: int | None = None

    def run(
        self, trainer: Trainer[TrialT, ResultT], pending: PendingTrials[TrialT], adaptive: bool, progress: Progress
    ) -> Iterator[TrialOutcome[TrialT, ResultT]]:
        return trainer.train(pending, self.workers, progress)


def executor(on: str = HERE, workers: int | None = None) -> Executor:
    """The executor that `on` names: `here`, `ray` (a Ray instance on this machine, joined or started), or the address
    of a cluster (`ray://HOST:PORT`, `HOST:PORT`)."""
    if workers is not None and workers < 1:
        raise InputError(f"`workers={workers}`: must be at least 1")
    if on == HERE:
        return LocalExecutor(workers)
    host, colon, port = on.removeprefix("ray://").rpartition(":")
    if on != "ray" and not (host and colon and port.isdecimal()):
        raise InputError(
            f"`on={on}`: is neither here, ray, nor the address of a Ray cluster (ray://HOST:PORT, HOST:PORT)"
        )
    if find_spec("ray") is None:
        raise InputError(f"`on={on}`: runs on more than one machine need Ray: {INSTALL}")

    from rote.experiments.ray_executor import RayExecutor

    return RayExecutor(None if on == "ray" else on, workers)
