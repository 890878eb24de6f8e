"""A published figure about vector tasks as a part of a report: its points, its bounds, its claims."""

from __future__ import annotations

from rote.experiments.vector_findings import VectorFindings
from rote.papers.vector_figures import CapacityFigure, SaturationFigure
from rote.report.charts import TONES, Mark, Series, XYChart
from rote.report.document import Block, ChartBlock, ClaimBlock, Part, Table, Text


def vector_part(findings: VectorFindings) -> Part:
    """Everything that the trials say of one figure."""
    plan = findings.plan
    blocks: list[Block] = [ChartBlock(plan.figure.id, vector_chart(findings))]
    if findings.missing:
        blocks.append(
            Text(f"{findings.missing:,} points have not been run to their end; verdicts may change with them.")
        )
    if plan.quick:
        blocks.append(Text("A quick run: fewer cells and repeats than the paper's."))
    blocks += [
        ClaimBlock(claim.statement, claim.rule.in_words, verdict.outcome, verdict.why)
        for claim, verdict in findings.verdicts
    ]
    rows = [
        [
            series.name, int(point.x), point.in_words, point.mean, point.setting.promised, point.setting.rank,
            round(point.seconds, 1),
        ]
        for series in findings.series
        for point in series.points
    ]  # fmt: skip
    columns = ["series", findings.x_label, f"{findings.y_label}, a seed each", "mean", "Theorem 1", "rank", "seconds"]
    blocks.append(Table("points", columns, rows))
    if plan.figure.note:
        blocks.append(Text(plan.figure.note))
    return Part(f"{plan.figure.id}: {plan.figure.title}", blocks)


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
        drawn.append(Series(series.name, marks, "joined", TONES[index % len(TONES)]))
    if counts:
        promised = sorted({(point.x, point.setting.promised) for series in findings.series for point in series.points})
        marks = [Mark(x, float(value), f"promised: {value:,}") for x, value in promised]
        drawn.append(Series("Theorem 1 promises", marks, "dashed", "grey"))
    title, long = findings.plan.figure.title, isinstance(findings.plan.figure, SaturationFigure)
    return XYChart(title, findings.x_label, findings.y_label, drawn, log_x=long, log_y=counts)
