"""Chart and table of a figure about vector tasks, for a report."""

from __future__ import annotations

from rote.charts import TONES, ChartSeries, Mark, XYChart
from rote.experiments.vectors.findings import VectorFindings
from rote.papers.vector_figures import CapacityFigure, SaturationFigure
from rote.report.document import ReportTable


def point_table(findings: VectorFindings) -> ReportTable:
    """Every point, a value a seed, beside the bounds."""
    rows = [
        [
            series.name, int(point.x), point.in_words, point.mean, point.setting.promised, point.setting.rank,
            round(point.seconds, 1),
        ]
        for series in findings.series
        for point in series.points
    ]  # fmt: skip
    columns = ["series", findings.x_label, f"{findings.y_label}, a seed each", "mean", "Theorem 1", "rank", "seconds"]
    return ReportTable("points", columns, rows)


def vector_chart(findings: VectorFindings) -> XYChart:
    """Means over seeds, joined; for capacities the examples that Theorem 1 of Mahdavi et al. promises as well."""
    counts = isinstance(findings.plan.figure, CapacityFigure)
    drawn = []
    for index, series in enumerate(findings.series):
        marks = [
            Mark(point.x, point.mean, f"{series.name}, {findings.x_label} {point.x:g}: {point.in_words}")
            for point in series.points
            if point.mean > 0 or not counts
        ]
        drawn.append(ChartSeries(series.name, marks, "joined", TONES[index % len(TONES)]))
    if counts:
        promised = sorted({(point.x, point.setting.promised) for series in findings.series for point in series.points})
        marks = [Mark(x, float(value), f"promised: {value:,}") for x, value in promised]
        drawn.append(ChartSeries("Theorem 1 promises", marks, "dashed", "grey"))
    title, long = findings.plan.figure.title, isinstance(findings.plan.figure, SaturationFigure)
    return XYChart(title, findings.x_label, findings.y_label, drawn, log_x=long, log_y=counts)
