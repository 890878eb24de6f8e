"""Charts and table of a checked statement, for a report."""

from __future__ import annotations

from rote.charts import TONES, ChartSeries, Mark, XYChart
from rote.experiments.statements.findings import StatementFindings
from rote.report.document import ReportTable
from rote.report.statement_figure import means


def statement_charts(findings: StatementFindings) -> list[XYChart]:
    """A chart for each series: what was measured, joined; what was stated, dashed."""
    asked, charts = findings.figure, []
    for name, points in findings.series.items():
        drawn = []
        for index, line in enumerate(asked.lines):
            values = means(points, line.value, log_x=asked.log_x, log_y=asked.log_y)
            marks = [Mark(x, y, f"{line.label}, {asked.x} {x:g}: {y:.4g}") for x, y in values.items()]
            if marks:
                drawn.append(
                    ChartSeries(line.label, marks, "dashed" if line.bound else "joined", TONES[index % len(TONES)])
                )
        if drawn:
            charts.append(XYChart(name, asked.x, asked.y, drawn, log_x=asked.log_x, log_y=asked.log_y))
    return charts


def statement_table(findings: StatementFindings) -> ReportTable:
    """Every cell and seed with all that was measured."""
    names = list(dict.fromkeys(name for point in findings.evaluated for name in point.numbers))
    rows = [
        [point.series, point.x, point.seed, *(point.numbers.get(name) for name in names)]
        for point in findings.evaluated
    ]
    return ReportTable(
        "cells", ["series", findings.figure.x, "seed", *(name.replace("_", " ") for name in names)], rows
    )
