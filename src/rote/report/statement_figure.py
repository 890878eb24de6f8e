"""The figure of a checked statement: a panel for each series, what was measured beside what was stated."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rote.experiments.statements.findings import StatementFindings, StatementPoint
from rote.papers.statements import Line
from rote.report.style import BLUE, GREEN, GREY, ORANGE, PURPLE, VERMILION, figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MEASURED = ((BLUE, "o"), (VERMILION, "s"), (GREEN, "^"), (PURPLE, "D"))
STATED = (("black", "--"), (ORANGE, ":"), (GREY, "-."), (GREY, (0, (5, 1))))
COLUMNS = 3
FEW_DECADES = 200
"""Ratio of the ends of an axis up to which powers of ten alone are too few ticks."""
SMALLEST_SHOWN = 1e-15
"""On a logarithmic axis less than this is left out: it is rounding."""


def drawn_statement(findings: StatementFindings) -> Figure:
    """The figure as a matplotlib object."""
    asked, series = findings.plan.figure, findings.series
    # Four panels are two rows of two.
    columns = 2 if len(series) == 4 else min(COLUMNS, max(1, len(series)))
    rows = max(1, -(-len(series) // columns))
    styles = _styles(asked.lines)
    with figure(max(4.6, 3.1 * columns), 0.9 + 2.5 * rows) as drawn:
        panels = list(drawn.subplots(rows, columns, squeeze=False).flat)
        for panel, (name, points) in zip(panels, series.items(), strict=False):
            _draw(panel, findings, name, points, styles)
        for panel in panels[len(series) :]:
            panel.set_axis_off()
        handles = {}
        for panel in panels:
            for handle, label in zip(*panel.get_legend_handles_labels(), strict=True):
                handles.setdefault(label, handle)
        drawn.legend(
            list(handles.values()),
            list(handles),
            fontsize=7.5,
            loc="outside lower left",
            ncols=min(3, len(handles) or 1),
        )
        note = "QUICK: fewer cells, " if findings.plan.quick else ""
        missing = f", {findings.missing} cells not run" if findings.missing else ""
        seeds = f"means over {findings.plan.repeats} seeds" if findings.plan.repeats > 1 else "one seed"
        drawn.suptitle(f"{asked.passage}: {asked.title}\n{note}{seeds}{missing}", x=0.01, ha="left", fontsize=10)
        return drawn


def _styles(lines: Sequence[Line]) -> dict[str, dict[str, Any]]:
    """A look for each line: measured ones have marks, stated ones are broken."""
    measured, stated = iter(MEASURED), iter(STATED)
    styles: dict[str, dict[str, Any]] = {}
    for line in lines:
        if line.bound:
            colour, dashes = next(stated)
            styles[line.value] = {"color": colour, "ls": dashes, "lw": 1.4, "zorder": 4}
        else:
            colour, mark = next(measured)
            styles[line.value] = {"color": colour, "marker": mark, "ms": 3.8, "lw": 1.1, "zorder": 3}
    return styles


def _draw(
    axes: Any,
    findings: StatementFindings,
    name: str,
    points: Sequence[StatementPoint],
    styles: dict[str, dict[str, Any]],
) -> None:
    asked, shown = findings.plan.figure, set[float]()
    for line in asked.lines:
        values = means(points, line.value, log_x=asked.log_x, log_y=asked.log_y)
        if values:
            axes.plot(list(values), list(values.values()), label=line.label, **styles[line.value])
            shown.update(values)
    if asked.log_x:
        axes.set_xscale("log")
    if asked.log_y:
        _log_y(axes)
    kept = _apart(sorted(shown), asked.log_x)
    axes.set_xticks(kept, [f"{tick:,g}" if tick < 1000 else f"{tick:,.0f}" for tick in kept])
    axes.xaxis.minorticks_off()
    axes.set_title(name, fontsize=8.5)
    axes.set_xlabel(asked.x, fontsize=8)
    axes.set_ylabel(asked.y, fontsize=8)
    axes.tick_params(labelsize=7.5)
    axes.grid()


def _log_y(axes: Any) -> None:
    """Plain numbers at powers of ten, and between them where there are few."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axes.set_yscale("log")
    low, high = axes.get_ylim()
    few = high < FEW_DECADES * low
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if few else (1,)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}" if value < 1e6 else f"{value:.0e}"))
    axes.yaxis.set_minor_formatter(NullFormatter())


def means(points: Sequence[StatementPoint], value: str, *, log_x: bool, log_y: bool) -> dict[float, float]:
    """By x, the mean over seeds: geometric on a logarithmic axis."""
    values: dict[float, list[float]] = {}
    for point in points:
        number = point.value(value)
        if number is not None and (point.x > 0 or not log_x) and (number > SMALLEST_SHOWN or not log_y):
            values.setdefault(point.x, []).append(number)
    return {
        x: math.exp(sum(map(math.log, found)) / len(found)) if log_y else sum(found) / len(found)
        for x, found in sorted(values.items())
    }


def _apart(ticks: Sequence[float], log: bool) -> list[float]:
    """Ticks far enough from each other for their names not to touch."""
    kept: list[float] = []
    room = max(ticks) - min(ticks) if ticks else 0.0
    for tick in ticks:
        if not kept or (tick > 1.9 * kept[-1] if log else tick - kept[-1] > room / 7):
            kept.append(tick)
    return kept
