"""What the ledger keeps of a model trained on token sequences, as a record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rote.experiments.trial import record_of


@dataclass(frozen=True)
class TokenResult:
    """One trained model."""

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
        """The record of a ledger's row."""
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
        """The record of a ledger's row."""
        return record_of(cls, result)
