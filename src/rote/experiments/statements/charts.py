"""The drawing of a checked statement: a panel for each series, what was measured beside what was stated."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import cycle

from rote.charts import ChartSeries, Mark, Panels, Shape, Style, Tone, XYChart
from rote.display import number
from rote.experiments.statements.points import StatementPoint, StatementPoints
from rote.papers.kinds.statements import Line

MEASURED: tuple[tuple[Tone, Shape], ...] = (
    ("blue", "disc"), ("vermilion", "square"), ("green", "triangle"), ("purple", "diamond"),
)  # fmt: skip
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
        ticks = sorted({mark.x for series in drawn for mark in series.marks})
        panels.append(XYChart(name, figure.x, figure.y, drawn, log_x=figure.log_x, log_y=figure.log_y, x_ticks=ticks))
    return Panels(title, panels, note)


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
