"""A trial as it is planned: a model to be trained, named by its content alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rote.experiments.ledgers.ledger import TrialKey
from rote.models.attention_only import AttentionOnly
from rote.models.mlp_transformer import MlpTransformer
from rote.training.protocol import Protocol


@dataclass(frozen=True)
class PlannedTrial:
    """What is to be trained, how, and from which seed. Trials of equal content are one trial."""

    spec: AttentionOnly | MlpTransformer
    protocol: Protocol
    seed: int
    start: str | None = None
    """Names the weights that training starts from, where they are not random."""

    @property
    def cell(self) -> dict[str, Any]:
        """Everything but the seed, as the ledger keeps it."""
        start = {} if self.start is None else {"start": self.start}
        return {"spec": self.spec.to_config(), "protocol": self.protocol.model_dump(mode="json"), **start}

    @property
    def key(self) -> TrialKey:
        """The trial's name in the ledger."""
        return TrialKey.of(self.cell, self.seed)
