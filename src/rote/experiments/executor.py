"""Where trials run: on this machine, or on a Ray cluster. What comes out is the same.

A trial's result depends on the trial alone, so whoever trains it gives the same numbers. A `Trainer` is what is sent to
wherever trials run; `Where` hands it trials, and gives each one back as soon as it ends.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, Protocol, TypeVar, runtime_checkable

from rote.errors import InputError
from rote.experiments.ledgers.ledger import TrialKey
from rote.progress import Progress
from rote.training.failure import Failed

HERE = "here"
INSTALL = "pip install 'rote[cluster]'"


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
AnyT = TypeVar("AnyT")
ResultT = TypeVar("ResultT")
ResultT_co = TypeVar("ResultT_co", covariant=True)

Ask = Callable[[], Sequence[AnyT]]
"""Gives the trials that are wanted, most urgent first; those that are running may be among them."""

Outcome = tuple[AnyT, ResultT | Failed, float]
"""A trial that ended or failed, its result, and its processor seconds."""


class Trainer(Protocol[TrialT, ResultT_co]):
    """Trains trials. One that is sent to another machine holds all that trials need, and no list of them."""

    def train(self, ask: Ask[TrialT], workers: int | None, progress: Progress) -> Iterator[Outcome[TrialT, ResultT_co]]:
        """Each trial that is asked for, as soon as it ends; at most `workers` at once.

        Every trial that was given back has been recorded when `ask` is called next.
        """
        ...


class Where(Protocol):
    """Runs what a trainer is asked for."""

    def run(
        self, trainer: Trainer[TrialT, ResultT], ask: Ask[TrialT], adaptive: bool, progress: Progress
    ) -> Iterator[Outcome[TrialT, ResultT]]:
        """As `Trainer.train`; where trials are `adaptive`, what is asked for depends on what has ended."""
        ...


@dataclass(frozen=True)
class ThisMachine:
    """The cores of this machine, `workers` of them, or all."""

    workers: int | None = None

    def run(
        self, trainer: Trainer[TrialT, ResultT], ask: Ask[TrialT], adaptive: bool, progress: Progress
    ) -> Iterator[Outcome[TrialT, ResultT]]:
        return trainer.train(ask, self.workers, progress)


def where(on: str = HERE, workers: int | None = None) -> Where:
    """Where `on` says: `here`, `ray` (a Ray that runs on this machine, or one that is started), or a cluster's address
    (`ray://HOST:PORT`, `HOST:PORT`)."""
    if workers is not None and workers < 1:
        raise InputError(f"`workers={workers}`: must be at least 1")
    if on == HERE:
        return ThisMachine(workers)
    host, colon, port = on.removeprefix("ray://").rpartition(":")
    if on != "ray" and not (host and colon and port.isdecimal()):
        raise InputError(
            f"`on={on}`: is neither here, ray, nor the address of a Ray cluster (ray://HOST:PORT, HOST:PORT)"
        )
    if find_spec("ray") is None:
        raise InputError(f"`on={on}`: sweeps past one machine need Ray: {INSTALL}")

    from rote.experiments.on_ray import RayCluster

    return RayCluster(None if on == "ray" else on, workers)
