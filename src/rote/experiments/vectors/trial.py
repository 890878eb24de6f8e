"""A planned trial on a vector task (a setting, a number of examples, a protocol, a seed) and its record in the ledger.

Seed s draws its examples and its initial weights from s alone, so that a trial gives the same result wherever it runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rote.experiments.ledgers.ledger import TrialKey
from rote.experiments.trial import Trial, record_of
from rote.papers.kinds.vectors import Threshold, VectorSetting
from rote.tasks import VectorTask, random_vectors
from rote.training.query_attention.protocol import VectorProtocol


@dataclass(frozen=True)
class VectorTrial(Trial):
    """A model to train on so many examples. Trials of equal content are one trial."""

    setting: VectorSetting
    examples: int
    protocol: VectorProtocol
    seed: int
    heads_measured: bool = False
    """Whether the ledger keeps how the heads share the examples (see `queue.head_shares`)."""

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


@dataclass(frozen=True)
class VectorResult:
    accuracy: float | None
    """Of labels; None for real targets, and where training diverged."""
    mean_square: float | None
    """Error of real targets; None for labels, and where training diverged."""
    steps: int
    diverged_at: int | None
    seconds: float
    """CPU time."""
    by_head: tuple[float, ...] = ()
    """Share of the examples that each head saturates on, where that was measured."""
    overlaps: tuple[Any, ...] = ()

    @classmethod
    def of(cls, result: Mapping[str, Any]) -> VectorResult:
        heads = result.get("heads", {})
        by_head, overlaps = (tuple(heads.get(name, ())) for name in ("by_head", "overlaps"))
        return record_of(cls, result, by_head=by_head, overlaps=overlaps)

    def meets(self, threshold: Threshold) -> bool:
        """Whether the trial met a threshold; one that diverged did not."""
        if threshold.accuracy is not None:
            return self.accuracy is not None and self.accuracy >= threshold.accuracy
        return self.mean_square is not None and self.mean_square < (threshold.mean_square or 0.0)


Results = Mapping[TrialKey, VectorResult]
"""Ended trials by their key."""
