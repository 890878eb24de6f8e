"""Trials: the units of a run, each named by its content, so that trials of equal content are one trial."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

from rote.experiments.ledgers.ledger import TrialKey
from rote.models.attention_only import Transformer
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
