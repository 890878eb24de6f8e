"""A verdict on a claim, and how claims and verdicts are written down."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from rote.papers.claims import Claim, Outcome


@dataclass(frozen=True)
class Verdict:
    """The decision on a claim, with the numbers behind it."""

    outcome: Outcome
    why: str
    numbers: dict[str, Any] = field(default_factory=dict)

    @property
    def refuted(self) -> bool:
        return self.outcome == "not supported"

    def of_claim(self, claim: Claim, data: str) -> Verdict:
        """What the rule's verdict is worth as a verdict on a claim, given the data that it was measured on."""
        if claim.cannot_fail:
            return replace(self, outcome="not tested", why=f"{claim.cannot_fail}; {self.why}")
        if claim.data and claim.data not in data:
            return replace(
                self, outcome="not comparable", why=f"on {data}, not {claim.data}: {self.outcome}, {self.why}"
            )
        return self

    def summary(self) -> dict[str, Any]:
        return {"verdict": self.outcome, "why": self.why, "numbers": self.numbers}


def claim_summary(claim: Claim) -> dict[str, Any]:
    """A claim, who makes it, and the rule that it is judged by, as a document."""
    said = claim.quotation
    return {
        "id": claim.id,
        "statement": claim.statement,
        "owner": claim.owner,
        "quotation": None if said is None else {"words": said.words, "place": said.place, "text": said.text},
        "rule": claim.rule.in_words,
        "can_fail": not claim.cannot_fail,
    }
