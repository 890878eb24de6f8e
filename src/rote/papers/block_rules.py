"""Rules by which claims about #blocks are decided, as data; `rote.experiments.blocks.verdicts` applies them."""

from __future__ import annotations

from dataclasses import dataclass

from rote.papers.rules import Rule


@dataclass(frozen=True)
class BlocksGrowAsPower(Rule):
    """The smallest #blocks grow like N^e with e between `low` and `high`."""

    low: float
    high: float

    @property
    def in_words(self) -> str:
        return (
            f"the 95 % interval of e in b N^e lies within [{self.low:g}, {self.high:g}] in every series; refuted where "
            "it lies outside in one, or where two points alone are too steep. Of the N at which one block suffices the "
            "largest counts; an N at which no #blocks tried did says only that more are needed"
        )


@dataclass(frozen=True)
class BlocksDoNotGrow(Rule):
    """The same #blocks suffice at every x."""

    within: int = 1

    @property
    def in_words(self) -> str:
        return (
            f"the smallest #blocks differ by at most {self.within} between any two x; refuted where the one at the "
            "largest x is greater than at the smallest by more, or none sufficed"
        )


@dataclass(frozen=True)
class NoMoreThanPublished(Rule):
    """No more blocks are needed than were published, wherever a number was."""

    @property
    def in_words(self) -> str:
        return "the smallest #blocks are at most the published ones, at every x and in every series that has both"


@dataclass(frozen=True)
class MoreBlocksRecallMore(Rule):
    """Deeper networks end with a higher accuracy than that of one block."""

    by: float = 0.01

    @property
    def in_words(self) -> str:
        return (
            f"the best trial of every #blocks above 1 recalls at least {self.by:g} more than the best of one block; "
            "refuted where none does"
        )
