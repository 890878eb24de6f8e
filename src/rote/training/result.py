"""What training gives."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rote.models.model import Model
from rote.training.protocol import Protocol


@dataclass(frozen=True, eq=False)
class Trained:
    """One trained model. Accuracies are absent when training diverged: that is not a low accuracy.

    >>> import rote
    >>> spec = rote.AttentionOnly(vocab=6, context=2, dim=4, head_dim=4, heads=2)
    >>> trained = rote.train("random:vocab=6,context=2,facts=9,seed=1", spec, seeds=1, steps=20)[0]
    >>> trained.diverged, 0 <= trained.accuracy <= 1
    (False, True)
    """

    model: Model
    seed: int
    protocol: Protocol
    engine: str
    accuracy: float | None
    """Share of all facts recalled, each counted alike: strict maximum, as in `rote.recall`."""
    sampled_accuracy: float | None
    """The same with each context weighted by how often training asked about it."""
    batch_accuracy: float | None
    """Mean over the last 100 minibatches before each one's step (what Dana et al. 2025 publish); none if full batch."""
    loss: float
    """Cross-entropy of the last step in nats, under the weights of training."""
    diverged_at: int | None
    """Step at which the loss stopped being a finite number, or left what knowing nothing costs for good."""
    seconds: float
    """Processor time of this model, or its share of a stack's."""
    curve: np.ndarray = field(repr=False)
    """Loss (nats) at at most 200 evenly spaced steps: rows of (step, loss)."""

    @property
    def diverged(self) -> bool:
        return self.diverged_at is not None

    @property
    def published_accuracy(self) -> float | None:
        """What compares with the published figures: over the last batches, or over the sampled data set."""
        return self.sampled_accuracy if self.batch_accuracy is None else self.batch_accuracy

    def summary(self) -> dict[str, Any]:
        """The numbers, by the names that every command gives them."""
        return {
            "seed": self.seed,
            "protocol": self.protocol.name,
            "steps": self.protocol.steps,
            "engine": self.engine,
            "recall": self.accuracy,
            "sampled_accuracy": self.sampled_accuracy,
            "batch_accuracy": self.batch_accuracy,
            "loss": self.loss,
            "diverged_at": self.diverged_at,
            "parameters": self.model.parameters,
            "processor_seconds": self.seconds,
        }
