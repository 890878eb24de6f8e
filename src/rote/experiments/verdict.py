"""A verdict on a published claim, and how claims are written down."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from rote.papers.claims import Claim

Outcome = Literal["holds", "does not", "undecided"]


@dataclass(frozen=True)
class Verdict:
    """The decision on a claim, with the numbers behind it."""

    outcome: Outcome
    why: str
    numbers: dict[str, Any] = field(default_factory=dict)

    @property
    def refuted(self) -> bool:
        return self.outcome == "does not"

    def summary(self) -> dict[str, Any]:
        return {"verdict": self.outcome, "why": self.why, "numbers": self.numbers}


def claim_summary(claim: Claim) -> dict[str, Any]:
    """A claim and the rule that it is judged by, as a document."""
    return {"id": claim.id, "statement": claim.statement, "rule": claim.rule.in_words}
