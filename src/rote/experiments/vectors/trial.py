"""A trial on a vector task as it is planned: a setting, a number of examples, a protocol and a seed.

Seed s draws its examples and its initial weights from s alone, so that a trial gives the same result wherever it runs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rote.experiments.trial import Trial
from rote.papers.kinds.vectors import VectorSetting
from rote.tasks import VectorTask
from rote.tasks.generators import random_vectors
from rote.training.query_attention.protocol import VectorProtocol


@dataclass(frozen=True)
class VectorTrial(Trial):
    """A model to train on so many examples. Trials of equal content are one trial."""

    setting: VectorSetting
    examples: int
    protocol: VectorProtocol
    seed: int
    heads_measured: bool = False
    """Whether the ledger keeps how the heads share the examples (see `saturation`)."""

    @property
    def cell(self) -> dict[str, Any]:
        return {
            "spec": self.setting.spec.to_config(),
            "shared": self.setting.shared,
            "labels": self.setting.classes is not None,
            "examples": self.examples,
            "protocol": self.protocol.model_dump(mode="json"),
            **({"heads_measured": True} if self.heads_measured else {}),
        }

    def task(self) -> VectorTask:
        """Vectors uniform in [0, 1)^d as in the published experiments, labels or a uniform target."""
        setting = self.setting
        return random_vectors(
            self.examples, setting.context, setting.dim, shared=setting.shared, classes=setting.classes,
            targets=None if setting.classes else 1, distribution="uniform", seed=self.seed,
        )  # fmt: skip
