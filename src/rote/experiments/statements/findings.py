"""What the cells of a checked statement say: numbers by series and x, and the verdict on each claim."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import cycle
from typing import Any, ClassVar

from rote.charts import Chart, ChartSeries, Mark, Panels, Shape, Style, Tone, XYChart
from rote.display import number
from rote.experiments.findings import Column, Findings
from rote.experiments.ledgers.ledger import TrialRow
from rote.experiments.runner import Rows
from rote.experiments.statements.points import StatementPoint, StatementPoints
from rote.experiments.statements.schedule import StatementSchedule
from rote.experiments.statements.verdicts import decide_on_statement
from rote.experiments.verdict import Verdict
from rote.papers.claims import Rule
from rote.papers.kinds.statements import Line, Statement, Study

MEASURED: tuple[tuple[Tone, Shape], ...] = (
    ("blue", "disc"), ("vermilion", "square"), ("green", "triangle"), ("purple", "diamond"), ("orange", "down"),
    ("sky", "plus"), ("ink", "disc"), ("grey", "square"),
)  # fmt: skip
Styles = Mapping[str, tuple[Tone, Shape]]
"""Of measured series, by label."""
STATED: tuple[tuple[Tone, Style], ...] = (
    ("ink", "dashed"), ("orange", "dotted"), ("grey", "dash-dotted"), ("grey", "line"),
)  # fmt: skip
SMALLEST_SHOWN = 1e-15
"""On a logarithmic axis less than this is left out: it is rounding."""


def statement_chart(findings: StatementPoints, title: str, note: str) -> Panels:
    """Measured numbers have points and are joined; stated ones are lines."""
    figure = findings.schedule.figure
    panels = []
    for name, points in findings.series.items():
        drawn = _lines(points, figure.lines, figure.x, log_x=figure.log_x, log_y=figure.log_y)
        panels.append(
            XYChart(name, figure.x, figure.y, drawn, log_x=figure.log_x, log_y=figure.log_y, x_ticks=_ticks(drawn))
        )
    return Panels(title, panels, note)


def study_chart(findings: StatementPoints, study: Study, title: str, note: str) -> Panels:
    """A panel for each view and series, or for each view with a line for each series; a label looks alike in all."""

    def drawn(points: Sequence[StatementPoint], lines: Sequence[Line], styles: Styles) -> list[ChartSeries]:
        found = _lines(points, lines, study.x, log_x=study.log_x, log_y=study.log_y)
        return [
            replace(series, tone=styles[series.name][0], shape=styles[series.name][1])
            if series.name in styles
            else series
            for series in found
        ]

    def panel(name: str, y: str, series: Sequence[ChartSeries]) -> XYChart:
        return XYChart(name, study.x, y, series, log_x=study.log_x, log_y=study.log_y, x_ticks=_ticks(series))

    if study.together:
        styles = dict(zip(findings.series, cycle(MEASURED), strict=False))
        panels = []
        for view in study.views:
            named = [(points, [Line(view.lines[0].value, name)]) for name, points in findings.series.items()]
            lines = [drawn(points, line, styles)[0] for points, line in named]
            panels.append(panel(view.lines[0].label, view.y, lines))
        return Panels(title, panels, note)
    labels = dict.fromkeys(line.label for view in study.views for line in view.lines if not line.bound)
    styles = dict(zip(labels, cycle(MEASURED), strict=False))
    panels = [
        panel(name, view.y, drawn(points, view.lines, styles))
        for name, points in findings.series.items()
        for view in study.views
    ]
    return Panels(title, panels, note)


def _ticks(drawn: Sequence[ChartSeries]) -> list[float]:
    return sorted({mark.x for series in drawn for mark in series.marks})


def _lines(
    points: Sequence[StatementPoint], lines: Sequence[Line], x_label: str, *, log_x: bool, log_y: bool
) -> list[ChartSeries]:
    measured, stated = cycle(MEASURED), cycle(STATED)
    drawn = []
    for line in lines:
        values = means(points, line.value, log_x=log_x, log_y=log_y)
        marks = [Mark(x, y, f"{line.label}, {x_label} {x:g}: {number(y)}") for x, y in values.items()]
        if line.bound:
            tone, style = next(stated)
            drawn.append(ChartSeries(line.label, marks, style, tone))
        else:
            tone, shape = next(measured)
            drawn.append(ChartSeries(line.label, marks, "joined", tone, shape=shape))
    return drawn


def means(points: Sequence[StatementPoint], value: str, *, log_x: bool, log_y: bool) -> dict[float, float]:
    """By x, the mean over seeds: geometric on a logarithmic axis."""
    values: dict[float, list[float]] = {}
    for point in points:
        found = point.value(value)
        if found is not None and (point.x > 0 or not log_x) and (found > SMALLEST_SHOWN or not log_y):
            values.setdefault(point.x, []).append(found)
    return {
        x: math.exp(sum(map(math.log, found)) / len(found)) if log_y else sum(found) / len(found)
        for x, found in sorted(values.items())
    }


@dataclass(frozen=True)
class StatementFindings(StatementPoints, Findings[Statement, StatementSchedule]):
    """All that was measured for one statement."""

    counted: ClassVar[str] = "cells"

    def decide(self, rule: Rule) -> Verdict:
        return decide_on_statement(rule, self)

    @property
    def data(self) -> str:
        return "; ".join(dict.fromkeys(cell.series for cell in self.figure.cells))

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
        if isinstance(self.figure, Study):
            return {self.figure.id: study_chart(self, self.figure, self.conclusion, self.conditions)}
        return {self.figure.id: statement_chart(self, self.title, self.conditions)}

    @property
    def conclusion(self) -> str:
        """The headline of a study if its claims were decided so; else what was asked."""
        if not isinstance(self.figure, Study):
            return self.title
        headline = self.figure.headline
        supported = {claim.id for claim, verdict in self.verdicts if verdict.outcome == "supported"}
        refuted = {claim.id for claim, verdict in self.verdicts if verdict.refuted}
        found = supported.issuperset(headline.supported) and refuted.issuperset(headline.refuted)
        return headline.conclusion if found else self.title

    def extras(self) -> dict[str, Any]:
        return {"passage": self.figure.passage, "x": self.figure.x}


def _number(name: str) -> Any:
    """What a row has under this name; cells of another setting measure other things."""
    return lambda row: row.get(name)


def _numbers(row: TrialRow) -> dict[str, Any]:
    """The numbers of a trial; older ledgers call `guaranteed` `promised`."""
    return {"guaranteed" if name == "promised" else name: value for name, value in row.result["numbers"].items()}


def statement_findings(schedule: StatementSchedule, rows: Rows) -> StatementFindings:
    """Arrange what has ended; what has not is counted as missing."""
    trials = schedule.trials()
    points = tuple(
        StatementPoint(cell.series, cell.x, trial.seed, _numbers(row), row.seconds)
        for cell, trial in trials
        if (row := rows.get(trial.key)) is not None
    )
    return StatementFindings(schedule, points, len(trials) - len(points))
