"""What the ledger keeps of a trial on a vector task, as a record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rote.experiments.ledgers.ledger import TrialKey
from rote.papers.kinds.vectors import Threshold


@dataclass(frozen=True)
class VectorResult:
    """One trained model of vectors."""

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
        """The record of a ledger's row."""
        heads = result.get("heads", {})
        return cls(
            accuracy=result["accuracy"],
            mean_square=result["mean_square"],
            steps=result["steps"],
            diverged_at=result["diverged_at"],
            seconds=result["seconds"],
            by_head=tuple(heads.get("by_head", ())),
            overlaps=tuple(heads.get("overlaps", ())),
        )

    def meets(self, threshold: Threshold) -> bool:
        """Whether the trial met a threshold; one that diverged did not."""
        if threshold.accuracy is not None:
            return self.accuracy is not None and self.accuracy >= threshold.accuracy
        return self.mean_square is not None and self.mean_square < (threshold.mean_square or 0.0)


Results = Mapping[TrialKey, VectorResult]
"""Ended trials by their key."""
