"""A trial of F2 . uniform attention . F1 as it is planned: sequences, #blocks, and a number within the search.

The setting that a trial is trained with (learning rate, warm-up) is proposed from the trials before it, so the number
names it. Seed s draws the sequences; s, #blocks and the number draw the initial weights.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from rote.experiments.blocks.proposals import Proposal
from rote.experiments.trial import Trial
from rote.papers.kinds.blocks import Sequences


@dataclass(frozen=True)
class BlockTrial(Trial):
    """One network of a stack that is trained at once. Trials of equal content are one trial."""

    kind: Sequences
    sequences: int
    blocks: int
    number: int
    seed: int
    stack: tuple[Proposal, ...] = field(default=(), compare=False)
    """Settings of all trials that are trained with it, from number `first` on."""
    first: int = field(default=0, compare=False)

    @property
    def cell(self) -> dict[str, Any]:
        return {
            "kind": {"name": type(self.kind).__name__, **asdict(self.kind)},
            "sequences": self.sequences,
            "blocks": self.blocks,
            "trial": self.number,
        }


@dataclass(frozen=True)
class BuiltTrial(Trial):
    """The constructions of Theorem 4.1 on the same sequences, weights computed and not trained."""

    kind: Sequences
    sequences: int
    seed: int

    @property
    def cell(self) -> dict[str, Any]:
        return {
            "kind": {"name": type(self.kind).__name__, **asdict(self.kind)},
            "sequences": self.sequences,
            "built": "kajitsuka2025.theorem4_1",
        }


AnyTrial = BlockTrial | BuiltTrial
