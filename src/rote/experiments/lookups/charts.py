"""The drawing of a figure about look-up tables: points with their spread, laws, bounds and released values."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rote.charts import TONES, ChartSeries, Mark, Style, Tone, XYChart, shape, tones
from rote.experiments.lookups.points import LookupPoints, LookupSeries, SeriesPoint
from rote.measure.laws import LawFit
from rote.papers.kinds.lookups import Weighting

BOUNDS: dict[str, tuple[str, Style]] = {
    "dana2025.theorem1": ("Theorem 1: φ(Hk + d)", "dashed"),
    "dana2025.previous": ("previous bound", "dotted"),
}
IN_WORDS = {"sampled": "pairs weighted as sampled", "uniform": "all pairs alike"}
LINE = 80
"""Places at which a fitted law is drawn."""


def lookup_chart(findings: LookupPoints, weighting: Weighting, title: str, note: str) -> XYChart:
    """Measured points, the fitted law with its band, the bounds that apply, and what was released."""
    figure = findings.schedule.figure
    plotted = [series for series in findings.series if any(point.values[weighting] for point in series.points)]
    many = len(plotted) > len(TONES)
    groups: list[list[ChartSeries]] = []
    for index, (series, tone) in enumerate(zip(plotted, tones(len(plotted)), strict=True)):
        drawn: list[ChartSeries] = []
        fit = findings.first_fit(weighting, series)
        if fit is not None:
            drawn += _law(fit, series, tone, weighting, figure.saturation)
        # In a large family the bounds of its first and last member enclose the others'.
        if not many or index in (0, len(plotted) - 1):
            drawn += _bounds(series, tone)
        if weighting == "sampled":
            drawn += _released(series, tone if many else "ink")
        marks = [_mark(series, point, figure.x, weighting) for point in series.points if point.values[weighting]]
        drawn.append(ChartSeries(series.name, marks, "points", tone, shape="disc" if many else shape(index)))
        groups.append(drawn)
    if many:  # the legend in the order in which curves lie above each other
        groups.reverse()
    drawn = [each for group in groups for each in group] + _legend(findings, plotted, weighting, many)
    y_label = f"{figure.y} ({IN_WORDS[weighting]})"
    y_range = (0.0, 1.03) if figure.derived is None else None
    return XYChart(title, figure.x, y_label, drawn, y_range=y_range, note=note)


def _mark(series: LookupSeries, point: SeriesPoint, x: str, weighting: Weighting) -> Mark:
    mean, spread = float(np.mean(point.values[weighting])), point.spread(weighting)
    says = f"{series.name}, {x} {point.x:g}: {mean:.4f}"
    says += f" ± {spread:.4f}" if spread else ""
    says += f", published {point.published:.4f}" if point.published is not None else ""
    return Mark(point.x, mean, says, spread)


def _law(
    fit: LawFit, series: LookupSeries, tone: Tone, weighting: Weighting, saturation: float | None
) -> list[ChartSeries]:
    x = [point.x for point in series.points if point.values[weighting]]
    dense = np.linspace(min(x), max(x), LINE)
    line = fit(dense)
    inside = np.ones(len(dense), bool) if saturation is None else line <= 1
    drawn = [ChartSeries(f"fit {fit.formula}", _marks(dense[inside], line[inside]), "line", tone, in_legend=False)]
    if len(fit.samples):
        ends = (end[inside].tolist() for end in fit.band(dense))
        band = [
            Mark(mark.x, mark.y, interval=(low, high)) for mark, low, high in zip(drawn[0].marks, *ends, strict=True)
        ]
        drawn.insert(0, ChartSeries("95 % band", band, "band", tone, in_legend=False))
    return drawn


def _marks(x: np.ndarray, y: np.ndarray) -> list[Mark]:
    return [Mark(at, value) for at, value in zip(x.tolist(), y.tolist(), strict=True)]


def _bounds(series: LookupSeries, tone: Tone) -> list[ChartSeries]:
    lines = {id: [Mark(p.x, p.guaranteed[id]) for p in series.points if id in p.guaranteed] for id in BOUNDS}
    return [
        ChartSeries(label, lines[id], style, tone, in_legend=False)
        for id, (label, style) in BOUNDS.items()
        if lines[id]
    ]


def _released(series: LookupSeries, tone: Tone) -> list[ChartSeries]:
    marks = [Mark(p.x, p.published, f"released: {p.published:.4f}") for p in series.points if p.published is not None]
    return [ChartSeries("released values", marks, "crosses", tone, in_legend=False)] if marks else []


def _legend(
    findings: LookupPoints, plotted: Sequence[LookupSeries], weighting: Weighting, many: bool
) -> list[ChartSeries]:
    """Entries for what lines and crosses mean."""
    entries: list[ChartSeries] = []
    fits = [fit for series in plotted if (fit := findings.first_fit(weighting, series)) is not None]
    if fits:
        band = ", 95 % band" if any(len(fit.samples) for fit in fits) else ""
        entries.append(ChartSeries(f"fit {fits[0].formula}{band}", (), "line", "grey"))
    points = [point for series in plotted for point in series.points]
    if weighting == "sampled" and any(point.published is not None for point in points):
        entries.append(ChartSeries("released values", (), "crosses", "grey" if many else "ink"))
    for id, (label, style) in BOUNDS.items():
        if any(id in point.guaranteed for point in points):
            entries.append(ChartSeries(label + (" (first, last)" if many else ""), (), style, "grey"))
    return entries
