"""Executors: where trials run, on this machine or on a Ray cluster, with the same results."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Protocol

from rote.errors import InputError
from rote.experiments.trainer import PendingTrials, ResultT, Trainer, TrialOutcome, TrialT
from rote.progress import Progress
from rote.version import pip_install

HERE = "here"
INSTALL = pip_install("cluster")


class Executor(Protocol):
    """Runs pending trials by a trainer."""

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
