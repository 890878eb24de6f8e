"""Chart and table of a figure about #blocks, for a report."""

from __future__ import annotations

from rote.charts import TONES, ChartSeries, Mark, XYChart
from rote.experiments.blocks.findings import BlockFindings, BlockSeries
from rote.papers.block_figures import SmallestBlocksFigure
from rote.report.document import ReportTable


def block_chart(findings: BlockFindings) -> XYChart:
    """Smallest #blocks with what was published, or the best trial's accuracy while it was trained."""
    if findings.curves:
        return _training_chart(findings)
    drawn = []
    for index, series in enumerate(findings.series):
        marks = [
            Mark(point.x, float(blocks), f"{series.name}, {findings.x_label} {point.x:,}: {point.in_words} #blocks")
            for point in series.points
            for blocks in point.smallest
            if blocks is not None
        ]
        tone = TONES[index % len(TONES)]
        drawn.append(ChartSeries(series.name, marks, "joined", tone))
        if above := _above_the_ladder(findings, series):
            drawn.append(ChartSeries(f"{series.name}: more than that", above, "crosses", tone))
    if findings.published:
        marks = [Mark(x, blocks, f"published at {x:,}: {blocks:g}") for x, blocks in findings.published.items()]
        drawn.append(ChartSeries("published (read off the plot)", marks, "crosses", "grey"))
    return XYChart(findings.figure.title, findings.x_label, "smallest #blocks", drawn, log_x=True, log_y=True)


def _above_the_ladder(findings: BlockFindings, series: BlockSeries) -> list[Mark]:
    """A mark at the largest #blocks that was tried, where it did not suffice."""
    asked = findings.figure
    top = max(asked.ladder) if isinstance(asked, SmallestBlocksFigure) else 0
    return [
        Mark(point.x, float(top), f"{series.name}, {findings.x_label} {point.x:,}: more than {top} #blocks")
        for point in series.points
        if None in point.smallest
    ]


def _training_chart(findings: BlockFindings) -> XYChart:
    drawn = [
        ChartSeries(
            f"{curve.blocks} block{'s' * (curve.blocks > 1)}",
            [
                Mark(step, share, f"{curve.blocks} #blocks, step {step:,}: {share:.4f}")
                for step, _, share in curve.curves[0]
            ],
            "line",
            TONES[index % len(TONES)],
        )
        for index, curve in enumerate(findings.curves)
    ]
    return XYChart(findings.figure.title, "step", "accuracy of the best trial", drawn, y_range=(0, 1))


def block_table(findings: BlockFindings) -> ReportTable:
    """Every search with what the construction needs, or every #blocks of a figure of curves."""
    if findings.curves:
        rows = [
            [curve.blocks, max(curve.accuracies), min(curve.losses), len(curve.accuracies), round(curve.seconds, 1)]
            for curve in findings.curves
        ]
        return ReportTable("training", ["#blocks", "best accuracy", "least loss", "trials", "seconds"], rows)
    rows = [
        [
            series.name, point.x, point.in_words, findings.published.get(point.x), point.trials,
            point.built["exact"]["nonzeros"] if point.built else None,
            point.built["float"]["nonzeros"] if point.built else None, round(point.seconds, 1),
        ]
        for series in findings.series
        for point in series.points
    ]  # fmt: skip
    columns = ["series", findings.x_label, "#blocks", "published", "trials", "built, exact", "built, floats", "seconds"]
    return ReportTable("points", columns, rows)
