"""What all findings have in common whose plan says how their figure is run: how it was run, and the verdicts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import Any, Generic, Protocol, TypeVar

from rote.experiments.verdict import Verdict
from rote.papers.paper import Claim
from rote.papers.rules import Rule


class ClaimingFigure(Protocol):
    @property
    def id(self) -> str: ...

    @property
    def title(self) -> str: ...

    @property
    def claims(self) -> tuple[Claim, ...]: ...

    @property
    def note(self) -> str: ...


F = TypeVar("F", bound=ClaimingFigure)


class PlannedFindings(ABC, Generic[F]):
    """All that was measured for one figure of a plan."""

    plan: Any

    @abstractmethod
    def decide(self, rule: Rule) -> Verdict:
        """The verdict on a claim of this rule."""

    @cached_property
    def verdicts(self) -> list[tuple[Claim, Verdict]]:
        """Each claim with its verdict."""
        return [(claim, self.decide(claim.rule)) for claim in self.figure.claims]

    @property
    def published_verdicts(self) -> list[Verdict]:
        return [verdict for _, verdict in self.verdicts]

    @property
    def figure(self) -> F:
        return self.plan.figure

    @property
    def protocol(self) -> str:
        return self.plan.protocol

    @property
    def quick(self) -> bool:
        return self.plan.quick

    @property
    def repeats(self) -> int:
        return self.plan.repeats

    @property
    def note(self) -> str:
        return self.figure.note

    def heading(self) -> dict[str, Any]:
        """What a summary begins with."""
        return {
            "figure": self.figure.id,
            "title": self.figure.title,
            "protocol": self.protocol,
            "quick": self.quick,
            "repeats": self.repeats,
        }
