"""What the cells of a checked statement say: numbers by series and x, and the verdict on each claim."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rote.experiments.planned_findings import PlannedFindings
from rote.experiments.statements.plan import StatementPlan
from rote.experiments.statements.trial import Results
from rote.experiments.verdict import Verdict, claims_summary
from rote.papers.rules import Rule
from rote.papers.statements import Statement


@dataclass(frozen=True)
class StatementPoint:
    """A cell and a seed, with what was measured."""

    series: str
    x: float
    seed: int
    numbers: dict[str, float | None]
    seconds: float

    def value(self, side: str | float) -> float | None:
        """A number by its name, or the number itself."""
        return self.numbers.get(side) if isinstance(side, str) else side


@dataclass(frozen=True)
class StatementFindings(PlannedFindings[Statement]):
    """All that was measured for one statement."""

    plan: StatementPlan
    evaluated: tuple[StatementPoint, ...]
    missing: int
    """Cells and seeds that have not been run to their end."""

    @property
    def series(self) -> dict[str, list[StatementPoint]]:
        """Points by series, in order of x."""
        grouped: dict[str, list[StatementPoint]] = {}
        for point in self.evaluated:
            grouped.setdefault(point.series, []).append(point)
        return {name: sorted(points, key=lambda point: point.x) for name, points in grouped.items()}

    def decide(self, rule: Rule) -> Verdict:
        from rote.experiments.statements.verdicts import decide_on_statement

        return decide_on_statement(rule, self)

    @property
    def points(self) -> int:
        """Cells and seeds that ended."""
        return len(self.evaluated)

    def summary(self) -> dict[str, Any]:
        """Everything as one JSON document."""
        figure = self.plan.figure
        return {
            **self.heading(),
            "passage": figure.passage,
            "missing": self.missing,
            "x": figure.x,
            "points": [
                {"series": point.series, "x": point.x, "seed": point.seed, **point.numbers} for point in self.evaluated
            ],
            "claims": claims_summary(self.verdicts),
        }


def statement_findings(plan: StatementPlan, results: Results) -> StatementFindings:
    """Arrange what has ended; what has not is counted as missing."""
    trials = plan.trials()
    points = tuple(
        StatementPoint(cell.series, cell.x, trial.seed, results[trial.key]["numbers"], results[trial.key]["seconds"])
        for cell, trial in trials
        if trial.key in results
    )
    return StatementFindings(plan, points, len(trials) - len(points))
