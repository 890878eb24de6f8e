"""The result of training on a vector task."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rote.models.model import Model
from rote.training.query_attention.protocol import VectorProtocol


@dataclass(frozen=True, eq=False)
class VectorTrained:
    """One trained model, measured on every example as `rote.recall` and `rote.measure.error` do."""

    model: Model
    seed: int
    protocol: VectorProtocol
    accuracy: float | None
    """Share of labels recalled; None for regression, or if training diverged."""
    mean_square: float | None
    """Mean squared error; None for classification, or if training diverged."""
    loss: float
    """Loss of the kept weights over all examples: cross-entropy in nats, or squared error."""
    steps: int
    """Steps taken: fewer than the protocol's if every label was right before."""
    diverged_at: int | None
    seconds: float
    """CPU time."""
    curve: np.ndarray = field(repr=False)
    """Rows of (step, loss over all examples)."""

    engine: str = "folded"

    @property
    def diverged(self) -> bool:
        return self.diverged_at is not None

    def summary(self) -> dict[str, Any]:
        """Everything but the weights as one JSON document."""
        return {
            "seed": self.seed,
            "protocol": self.protocol.name,
            "steps": self.steps,
            "engine": self.engine,
            "accuracy": self.accuracy,
            "mean_square": self.mean_square,
            "loss": self.loss,
            "diverged_at": self.diverged_at,
            "parameters": self.model.parameters,
            "seconds": self.seconds,
        }
