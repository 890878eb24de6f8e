"""What the ledger keeps of a trial about #blocks, as records: a trained network, or the constructions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rote.experiments.blocks.trial import BlockTrial
from rote.experiments.ledgers.ledger import TrialKey
from rote.papers.kajitsuka2025.choices import ACCURACY, MEAN_SQUARE
from rote.papers.kinds.blocks import RandomSequences, Sequences


@dataclass(frozen=True)
class BlockResult:
    """One trained network."""

    learning_rate: float
    warm_up: int
    accuracy: float | None
    """The highest on the way; None for real targets."""
    loss: float
    """The least on the way."""
    parameters: int
    seconds: float
    """CPU time."""
    curve: tuple[tuple[int, float, float | None], ...]
    """(step, loss, accuracy)."""

    @classmethod
    def of(cls, result: Mapping[str, Any]) -> BlockResult:
        """The record of a ledger's row."""
        return cls(
            learning_rate=result["learning_rate"],
            warm_up=result["warm_up"],
            accuracy=result["accuracy"],
            loss=result["loss"],
            parameters=result["parameters"],
            seconds=result["seconds"],
            curve=tuple((step, loss, share) for step, loss, share in result["curve"]),
        )

    def recalled(self, kind: Sequences) -> bool:
        """Whether the error fell below 0.01."""
        return self.loss < MEAN_SQUARE if isinstance(kind, RandomSequences) else self.score(kind) > ACCURACY

    def score(self, kind: Sequences) -> float:
        """Larger is better: the accuracy, or minus the error of real targets."""
        return -self.loss if isinstance(kind, RandomSequences) else self.accuracy or 0.0


@dataclass(frozen=True)
class BuiltResult:
    """The constructions on the same sequences: what each took, as the ledger keeps it."""

    accounts: dict[str, Any]


Results = Mapping[TrialKey, BlockResult | BuiltResult]
"""Ended trials by their key."""


def block_result(result: dict[str, Any]) -> BlockResult | BuiltResult:
    """The record of a ledger's row, of whichever kind it is."""
    return BuiltResult(result) if "exact" in result else BlockResult.of(result)


def trained_result(results: Results, trial: BlockTrial) -> BlockResult:
    """The record of a network that was trained."""
    found = results[trial.key]
    if not isinstance(found, BlockResult):
        raise TypeError("a trial about #blocks names no construction")
    return found
