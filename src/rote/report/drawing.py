"""Charts as files for a paper: PNG, SVG or PDF, in the house style."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rote.charts import BarChart, Chart, ChartSeries, HeatMap, XYChart, number
from rote.errors import InputError
from rote.report.style import BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILION, figure, save

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS = {
    "blue": BLUE, "orange": ORANGE, "green": GREEN, "vermilion": VERMILION, "purple": PURPLE, "sky": SKY, "grey": GREY,
}  # fmt: skip
LINES = {"line": "-", "dashed": "--", "dotted": ":", "points": "none", "crosses": "none", "joined": "-"}
MARKS = {"points": "o", "crosses": "x", "joined": "o"}
FORMATS = ("png", "svg", "pdf")
FEW_CELLS = 12
"""Columns of a heat map up to which its cells carry their numbers."""


def write_chart(chart: Chart, path: Path) -> Path:
    """Draw a chart into a file; the suffix says in which format."""
    if path.suffix.removeprefix(".") not in FORMATS:
        raise InputError(f"{path}: figures are written as {', '.join(FORMATS)}")
    rows = len(chart.bars) if isinstance(chart, BarChart) else len(chart.rows) if isinstance(chart, HeatMap) else 0
    height = 3.6 if isinstance(chart, XYChart) else max(1.8, min(9.0, 1.3 + 0.2 * rows))
    with figure(6.4, height) as drawn:
        axes = drawn.add_subplot()
        axes.set_title(chart.title)
        axes.set_xlabel(chart.x_label)
        if isinstance(chart, XYChart):
            _draw_xy(axes, chart)
        elif isinstance(chart, BarChart):
            _draw_bars(axes, chart)
        else:
            shown = _draw_heat(axes, chart)
            drawn.colorbar(shown, ax=axes, shrink=0.8)
        return save(drawn, path)


def _draw_xy(axes: Axes, chart: XYChart) -> None:
    for series in chart.series:
        _draw_series(axes, series)
    axes.set_ylabel(chart.y_label)
    if chart.log_x:
        axes.set_xscale("log")
    if chart.log_y:
        axes.set_yscale("log")
    if chart.y_range:
        axes.set_ylim(*chart.y_range)
    axes.grid()
    if any(series.in_legend for series in chart.series):
        axes.legend(fontsize=7.5, loc="center left", bbox_to_anchor=(1.0, 0.5))


def _draw_series(axes: Axes, series: ChartSeries) -> None:
    xs, ys = [mark.x for mark in series.marks], [mark.y for mark in series.marks]
    label = series.name if series.in_legend else "_"
    colour = COLOURS[series.tone]
    axes.plot(
        xs, ys, linestyle=LINES[series.style], marker=MARKS.get(series.style), ms=3.6, lw=1.1, color=colour, label=label
    )
    if any(mark.spread for mark in series.marks):
        axes.errorbar(xs, ys, [mark.spread or 0 for mark in series.marks], fmt="none", color=colour, capsize=2, lw=0.9)


def _draw_bars(axes: Axes, chart: BarChart) -> None:
    for row, bar in enumerate(chart.bars):
        start = 1 if chart.log else 0
        axes.barh(row, bar.value - start, height=0.66, left=start, color=COLOURS[bar.tone], alpha=0.85)
        axes.annotate(
            bar.shown or number(bar.value), (max(bar.value, start), row), xytext=(4, 0), textcoords="offset points",
            va="center", fontsize=7.5,
        )  # fmt: skip
    axes.set_yticks(range(len(chart.bars)), [bar.name for bar in chart.bars], fontsize=7.5)
    axes.invert_yaxis()
    if chart.log:
        axes.set_xscale("log")
    axes.margins(x=0.12)
    axes.grid(axis="x")
    if chart.line:
        value, name = chart.line
        axes.axvline(value, color="black", lw=1.2, label=name)
    if chart.line or chart.legend:
        from matplotlib.patches import Patch

        handles, _ = axes.get_legend_handles_labels()
        handles += [Patch(color=COLOURS[tone], alpha=0.85, label=name) for tone, name in chart.legend.items()]
        axes.legend(handles=handles, fontsize=7.5, loc="best")


def _draw_heat(axes: Axes, chart: HeatMap):
    import numpy as np

    values = np.array([[np.nan if value is None else value for value in row] for row in chart.values], dtype=float)
    signed = bool((values < 0).any())
    shown = axes.imshow(
        values, aspect="auto", cmap="RdBu" if signed else "Blues", vmin=-chart.limit if signed else 0, vmax=chart.limit,
        interpolation="nearest",
    )  # fmt: skip
    every = max(1, len(chart.rows) // 40 + 1)
    axes.set_yticks(range(0, len(chart.rows), every), [str(name) for name in chart.rows[::every]], fontsize=7)
    step = max(1, len(chart.columns) // 24 + 1)
    axes.set_xticks(range(0, len(chart.columns), step), [str(name) for name in chart.columns[::step]], fontsize=7)
    axes.set_ylabel(chart.y_label)
    if len(chart.columns) <= FEW_CELLS and len(chart.rows) <= 2 * FEW_CELLS:
        for row, column in zip(*np.nonzero(~np.isnan(values)), strict=True):
            value = float(values[row, column])
            ink = "white" if abs(value) > 0.6 * chart.limit else "black"
            axes.text(column, row, f"{value:.2g}", ha="center", va="center", fontsize=6.5, color=ink)
    return shown
