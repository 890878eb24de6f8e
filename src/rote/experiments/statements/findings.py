"""What the cells of a checked statement say: numbers by series and x, and the verdict on each claim."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from rote.charts import Chart
from rote.experiments.findings import Column, Findings
from rote.experiments.runner import Rows
from rote.experiments.statements.charts import statement_chart
from rote.experiments.statements.points import StatementPoint, StatementPoints
from rote.experiments.statements.schedule import StatementSchedule
from rote.experiments.statements.verdicts import decide_on_statement
from rote.experiments.verdict import Verdict
from rote.papers.claims import Rule
from rote.papers.kinds.statements import Statement


@dataclass(frozen=True)
class StatementFindings(StatementPoints, Findings[Statement, StatementSchedule]):
    """All that was measured for one statement."""

    counted: ClassVar[str] = "cells"

    def decide(self, rule: Rule) -> Verdict:
        return decide_on_statement(rule, self)

    @property
    def columns(self) -> Sequence[Column]:
        """What the figure draws, then all else that was measured."""
        drawn = {line.value: line.label for line in self.figure.lines}
        others = dict.fromkeys(name for point in self.evaluated for name in point.numbers if name not in drawn)
        return (
            Column("series", "series"),
            Column(self.figure.x, "x"),
            Column("seed", "seed"),
            *(Column(label, _number(name)) for name, label in drawn.items()),
            *(Column(name.replace("_", " "), _number(name)) for name in others),
        )

    def rows(self) -> list[dict[str, Any]]:
        return [{"series": point.series, "x": point.x, "seed": point.seed, **point.numbers} for point in self.evaluated]

    def charts(self) -> dict[str, Chart]:
        return {self.figure.id: statement_chart(self, self.title, self.conditions)}

    def extras(self) -> dict[str, Any]:
        return {"passage": self.figure.passage, "x": self.figure.x}


def _number(name: str) -> Any:
    """What a row has under this name; cells of another setting measure other things."""
    return lambda row: row.get(name)


def statement_findings(schedule: StatementSchedule, rows: Rows) -> StatementFindings:
    """Arrange what has ended; what has not is counted as missing."""
    trials = schedule.trials()
    points = tuple(
        StatementPoint(cell.series, cell.x, trial.seed, row.result["numbers"], row.seconds)
        for cell, trial in trials
        if (row := rows.get(trial.key)) is not None
    )
    return StatementFindings(schedule, points, len(trials) - len(points))
