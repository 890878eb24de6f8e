"""Tables of a figure about look-up tables, for a report."""

from __future__ import annotations

from rote.experiments.lookups.findings import FigureFindings
from rote.report.document import ReportTable

MOST_CELLS = 400
"""Cells that a report's table shows."""


def cell_table(findings: FigureFindings) -> ReportTable:
    """Every cell: both weightings, what was published, the difference."""
    figure = findings.figure
    rows = [
        [
            series.name, point.x, point.mean("sampled"), point.spread("sampled"), point.mean("uniform"),
            point.published, point.difference,
        ]
        for series in findings.series
        for point in series.points
    ][:MOST_CELLS]  # fmt: skip
    columns = ["series", figure.x, f"{figure.y}, as sampled", "spread", "all pairs alike", "published", "difference"]
    return ReportTable("cells", columns, rows)


def law_tables(findings: FigureFindings) -> list[ReportTable]:
    """The fitted laws in the published weighting, where there are any."""
    fits = [
        [series, fit.formula, fit.points - fit.saturated, fit.residual,
         ", ".join(f"{name} {value:.3g}" for name, value in fit.values.items())]
        for series, by_law in findings.fits["sampled"].items()
        for fit in by_law.values()
    ]  # fmt: skip
    return [ReportTable("fitted laws", ["series", "law", "points", "rms", "parameters"], fits)] if fits else []
