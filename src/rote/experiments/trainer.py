"""The contract between a run and what trains its trials, on this machine or on another."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol, TypeVar

from rote.experiments.trial import Trial
from rote.progress import Progress
from rote.training.failure import Failed

TrialT = TypeVar("TrialT", bound=Trial)
AnyT = TypeVar("AnyT")
ResultT = TypeVar("ResultT")
ResultT_co = TypeVar("ResultT_co", covariant=True)

PendingTrials = Callable[[], Sequence[AnyT]]
"""Returns the trials still to run, most urgent first; running trials may be among them."""

TrialOutcome = tuple[AnyT, ResultT | Failed, float]
"""A trial, its result or failure, and its CPU seconds."""


class Trainer(Protocol[TrialT, ResultT_co]):
    """Trains trials. It may be sent to another machine: it holds everything that trials need, and no list of them."""

    def train(
        self, pending: PendingTrials[TrialT], workers: int | None, progress: Progress
    ) -> Iterator[TrialOutcome[TrialT, ResultT_co]]:
        """Yield each pending trial's outcome as soon as it ends, with at most `workers` trials at once.

        Every outcome yielded so far is recorded before `pending` is called again.
        """
        ...
