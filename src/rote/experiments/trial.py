"""Trials, the units of a run, their records in the ledger, and the contract of what trains them, here or elsewhere.

A trial is named by its content, so that trials of equal content are one trial.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, TypeVar, cast
from typing import Protocol as Contract

from rote.experiments.ledgers.ledger import TrialKey
from rote.models.attention_only import Transformer
from rote.progress import Progress
from rote.training.failure import Failed
from rote.training.protocol import Protocol


class Trial(ABC):
    """One unit of a run: a cell of its grid and a seed. Subclasses are frozen dataclasses with a field `seed`.

    A trial's result depends on its cell, its seed and the run's identity alone.
    """

    seed: int

    @property
    @abstractmethod
    def cell(self) -> dict[str, Any]:
        """Everything but the seed, as JSON: what the ledger stores."""

    @property
    def key(self) -> TrialKey:
        """The trial's name in the ledger."""
        return TrialKey.of(self.cell, self.seed)


@dataclass(frozen=True)
class TokenTrial(Trial):
    """A model to train on token sequences: its specification, protocol and seed."""

    spec: Transformer
    protocol: Protocol
    seed: int
    start: str | None = None
    """Names the initial weights if they are not random."""

    @property
    def cell(self) -> dict[str, Any]:
        start = {} if self.start is None else {"start": self.start}
        return {"spec": self.spec.to_config(), "protocol": self.protocol.model_dump(mode="json"), **start}


TrialT = TypeVar("TrialT", bound=Trial)
AnyT = TypeVar("AnyT")
ResultT = TypeVar("ResultT")
ResultT_co = TypeVar("ResultT_co", covariant=True)

PendingTrials = Callable[[], Sequence[AnyT]]
"""Returns the trials still to run, most urgent first; running trials may be among them."""

TrialOutcome = tuple[AnyT, ResultT | Failed, float]
"""A trial, its result or failure, and its CPU seconds."""


def record_of(kind: Callable[..., AnyT], result: Mapping[str, Any], **own: Any) -> AnyT:
    """A ledger's row as a dataclass: `own` values, and those that the row has under the names of the other fields."""
    names = [field.name for field in fields(cast(Any, kind)) if field.name not in own]
    return kind(**{name: result[name] for name in names}, **own)


@dataclass(frozen=True)
class TokenResult:
    accuracy: float | None
    """Over all contexts alike; None where training diverged."""
    loss: float | None
    diverged_at: int | None
    parameters: int
    keeps_published: bool
    """Whether the run kept the accuracy that the paper's experiments report."""
    published_accuracy: float | None
    curve: tuple[tuple[int, float], ...]
    """(step, loss), where the run keeps them."""

    @classmethod
    def of(cls, result: Mapping[str, Any]) -> TokenResult:
        return record_of(
            cls,
            result,
            keeps_published="published_accuracy" in result,
            published_accuracy=result.get("published_accuracy"),
            curve=tuple((step, loss) for step, loss in result.get("curve", ())),
        )


@dataclass(frozen=True)
class BitsResult:
    """One trained model with the bits that it holds, by both counts."""

    accuracy: float | None
    entropy_bits: float
    code_bits: float
    answer_bits: float
    complete: bool
    """Whether every fact is recalled."""
    diverged_at: int | None
    seconds: float

    @classmethod
    def of(cls, result: Mapping[str, Any]) -> BitsResult:
        return record_of(cls, result)


class Trainer(Contract[TrialT, ResultT_co]):
    """Trains trials. It may be sent to another machine: it holds everything that trials need, and no list of them."""

    def train(
        self, pending: PendingTrials[TrialT], workers: int | None, progress: Progress
    ) -> Iterator[TrialOutcome[TrialT, ResultT_co]]:
        """Yield each pending trial's outcome as soon as it ends, with at most `workers` trials at once.

        Every outcome yielded so far is recorded before `pending` is called again.
        """
        ...
