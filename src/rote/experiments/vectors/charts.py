"""The drawing of a figure about vector tasks: every seed, the mean, the straight line, and the bounds that apply."""

from __future__ import annotations

import numpy as np

from rote.charts import ChartSeries, Mark, Style, Tone, XYChart, shape, tones
from rote.display import number
from rote.experiments.vectors.points import VectorPoint, VectorPoints, VectorSeries
from rote.papers.kinds.vectors import CapacityFigure, SaturationFigure

SMALLEST_SHOWN = 0.8
"""Nothing recalled is drawn here on a logarithmic axis."""
LINE = 120
"""Places at which a straight line is drawn."""


def vector_chart(findings: VectorPoints, title: str, note: str) -> XYChart:
    """Means over seeds, joined, with every seed's value, and the interval that a capacity lies in."""
    figure = findings.schedule.figure
    counts = isinstance(figure, CapacityFigure)
    drawn: list[ChartSeries] = []
    for index, (series, tone) in enumerate(zip(findings.series, tones(len(findings.series)), strict=True)):
        seeds = [mark for point in series.points for mark in _seeds(point, counts)]
        means = [_mean(series, point, figure.x_label, counts) for point in series.points]
        drawn.append(ChartSeries(series.name, seeds, "ticks", tone, in_legend=False))
        drawn.append(ChartSeries(series.name, means, "joined", tone, shape=shape(index)))
    if counts:
        drawn += _bounds([point for series in findings.series for point in series.points], figure.size)
        drawn += _straight_lines(findings) if figure.size == "heads" else []
    saturation = isinstance(figure, SaturationFigure)
    most = max((value for series in findings.series for point in series.points for value in point.values), default=1.0)
    return XYChart(
        title,
        figure.x_label,
        figure.y_label,
        drawn,
        log_x=counts or saturation,
        log_y=counts or (not saturation and figure.cells[0][0].classes is None),
        y_range=(0.0, 1.08 * most or 1.0) if saturation else None,
        note=note,
        x_ticks=sorted({point.x for series in findings.series for point in series.points}),
    )


def _mean(series: VectorSeries, point: VectorPoint, x: str, counts: bool) -> Mark:
    values = ", ".join(number(value) for value in point.values)
    return Mark(point.x, _shown(point.mean, counts), f"{series.name}, {x} {point.x:g}: {values}")


def _seeds(point: VectorPoint, counts: bool) -> list[Mark]:
    highs = point.too_many or (None,) * len(point.values)
    return [
        Mark(point.x, _shown(low, counts), interval=None if high is None else (_shown(low, counts), high))
        for low, high in zip(point.values, highs, strict=True)
    ]


def _shown(value: float, counts: bool) -> float:
    return max(value, SMALLEST_SHOWN) if counts else value


def _bounds(points: list[VectorPoint], size: str) -> list[ChartSeries]:
    """Theorem 1 and the ranks; a line for each number of heads where something else varies."""
    numbers = [None] if size == "heads" else sorted({point.setting.heads for point in points}, reverse=True)
    drawn = []
    for heads in numbers:
        members = [point for point in points if heads in (None, point.setting.heads)]
        guaranteed = sorted({(point.x, point.setting.guaranteed) for point in members})
        rank = sorted({(point.x, point.setting.rank) for point in members if point.setting.shared})
        fresh = sorted({(point.x, point.setting.rank) for point in members if not point.setting.shared})
        lines: list[tuple[list[tuple[float, int]], str, Style]] = [
            (guaranteed, "H(min(n, k) - 1) + 1: Theorem 1", "dashed"),
            ([] if rank == guaranteed else rank, "H(n - 1) + 1: rank, one context", "dotted"),
            (fresh, "Hd: rank, fresh contexts", "dash-dotted"),
        ]
        named = f", H = {heads}" if len(numbers) > 1 else ""
        tone: Tone = "grey"
        drawn += [
            ChartSeries(label + named, [Mark(x, float(y)) for x, y in line], style, tone, faint=heads != numbers[0])
            for line, label, style in lines
            if line
        ]
    return drawn


def _straight_lines(findings: VectorPoints) -> list[ChartSeries]:
    """What a line through the means says, where it is above nothing."""
    drawn = []
    for series, tone in zip(findings.series, tones(len(findings.series)), strict=True):
        line = series.fit("linear")
        if line is None:
            continue
        dense = np.geomspace(series.points[0].x, series.points[-1].x, LINE)
        marks = [
            Mark(x, y)
            for x, y in zip(dense.tolist(), np.asarray(line(dense)).tolist(), strict=True)
            if y > SMALLEST_SHOWN
        ]
        drawn.append(ChartSeries("straight line in H", marks, "dotted", tone, in_legend=False))
    return [*drawn, ChartSeries("straight lines in H", (), "dotted", "grey")] if drawn else []
