"""The result of training."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rote.models.model import Model
from rote.training.protocol import Protocol


@dataclass(frozen=True, eq=False)
class Trained:
    """One trained model. Accuracies are None if training diverged: that is not a low accuracy.

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
    """Share of all facts recalled, each with equal weight: strict maximum, as in `rote.recall`."""
    sampled_accuracy: float | None
    """Accuracy with each context weighted by its frequency in training."""
    batch_accuracy: float | None
    """Mean accuracy of the last 100 minibatches before their steps, as in Dana et al. 2025; None under full batches."""
    loss: float
    """Cross-entropy of the last step in nats, under the weights of training."""
    diverged_at: int | None
    """Step at which the loss became non-finite, or from which it stayed above that of a uniform prediction."""
    seconds: float
    """CPU time of this model, or its share of a stack's."""
    curve: np.ndarray = field(repr=False)
    """Training curve: rows of (step, loss in nats) at up to 200 evenly spaced steps."""

    @property
    def diverged(self) -> bool:
        return self.diverged_at is not None

    @property
    def published_accuracy(self) -> float | None:
        """The accuracy that published figures report: over the last batches, or over the sampled data set."""
        return self.sampled_accuracy if self.batch_accuracy is None else self.batch_accuracy

    def summary(self) -> dict[str, Any]:
        """Everything but the weights as one JSON document."""
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
            "cpu_seconds": self.seconds,
        }
