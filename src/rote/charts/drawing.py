"""Charts drawn by matplotlib: for a notebook, or as files for a paper (PNG, SVG or PDF), in the house style."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rote.charts import BarChart, Chart, ChartSeries, HeatMap, Panels, XYChart, digest
from rote.charts.axes import Axis, spaced
from rote.charts.style import COLOURS, figure, save
from rote.display import number
from rote.errors import InputError
from rote.words import visible_lines

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LINES: dict[str, Any] = {
    "line": "-", "joined": "-", "dashed": "--", "dotted": ":", "dash-dotted": "-.",
}  # fmt: skip
SHAPES = {"disc": "o", "square": "s", "triangle": "^", "diamond": "D", "down": "v", "plus": "P"}
MARKS = {"crosses": "x", "ticks": "_", "arrows": "$\u2191$"}
LAYERS = {"band": 1, "line": 2, "dotted": 2, "dashed": 2, "dash-dotted": 2, "ticks": 2.5, "joined": 3, "points": 3}
"""What is drawn over what; crosses and arrows come last."""
FORMATS = ("png", "svg", "pdf")
SUFFIXES = (".png", ".svg")
"""Of figures that a command writes."""
FEW_CELLS = 12
"""Columns of a heat map up to which its cells carry their numbers."""
LETTERS = 64
"""Of tick labels that fit side by side along the axis of a chart; half as many along that of a panel."""


def drawn(chart: Chart) -> Figure:
    """The chart as a matplotlib figure; its words are drawn as they are, never read as formulas."""
    chart = _literal(chart)
    if isinstance(chart, Panels):
        return _drawn_panels(chart)
    rows = len(chart.bars) if isinstance(chart, BarChart) else len(chart.rows) if isinstance(chart, HeatMap) else 0
    size = (6.4, max(1.8, min(9.0, 1.3 + 0.2 * rows)))
    if isinstance(chart, XYChart):
        size = (7.4, 4.6) if chart.note else (6.4, 3.6)
    with figure(*size) as canvas:
        _draw(chart, canvas.add_subplot(), own=True)
        return canvas


def draw(chart: XYChart | BarChart | HeatMap, axes: Axes) -> None:
    """Draw a chart on axes of somebody's own figure; its legend stays inside them."""
    _draw(_literal(chart), axes, own=False)


def _draw(chart: XYChart | BarChart | HeatMap, axes: Axes, own: bool) -> None:
    axes.set_title(f"{chart.title}\n{chart.note}" if chart.note else chart.title)
    if isinstance(chart, XYChart):
        _draw_xy(axes, chart, LETTERS)
        entries = [series for series in chart.series if series.in_legend]
        place: dict[str, Any] = {"loc": "center left", "bbox_to_anchor": (1.0, 0.5)} if own else {}
        if entries:
            axes.legend(handles=_handles(entries), fontsize=7.5, **place)
    elif isinstance(chart, BarChart):
        axes.set_xlabel(chart.x_label)
        _draw_bars(axes, chart, own)
    else:
        axes.set_xlabel(chart.x_label)
        axes.figure.colorbar(_draw_heat(axes, chart), ax=axes, shrink=0.8)


LONGEST = 1000
"""Letters of one text that are drawn: matplotlib takes a minute for a hundred thousand."""


def _literal(value: Any) -> Any:
    """A chart whose words are short, hold nothing unseen, and no `$` that matplotlib would begin a formula at."""
    if isinstance(value, str):
        return visible_lines(value[:LONGEST]).replace("$", r"\$")
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{part.name: _literal(getattr(value, part.name)) for part in fields(value) if part.init})
    if isinstance(value, list | tuple):
        return type(value)(map(_literal, value))
    if isinstance(value, dict):
        return {name: _literal(part) for name, part in value.items()}
    return value


def write_chart(chart: Chart, path: Path) -> Path:
    """Draw a chart into a file; the suffix says in which format."""
    if path.suffix.removeprefix(".") not in FORMATS:
        raise InputError(f"{path}: figures are written as {', '.join(FORMATS)}")
    return save(drawn(chart), path, {"Description": digest(chart)} if path.suffix == ".png" else None)


def _drawn_panels(chart: Panels) -> Figure:
    columns = chart.columns
    rows = max(1, -(-len(chart.panels) // columns))
    width, height = (4.8, 3.6) if columns == 2 and rows == 1 else (3.1, 2.5)
    with figure(max(4.6, width * columns), 0.9 + height * rows) as canvas:
        axes = list(canvas.subplots(rows, columns, squeeze=False).flat)
        for panel, own in zip(chart.panels, axes, strict=False):
            own.set_title(panel.title, fontsize=8.5)
            _draw_xy(own, panel, LETTERS // columns + 14)
            own.xaxis.label.set_size(8)
            own.yaxis.label.set_size(8)
            own.tick_params(labelsize=7.5)
        for own in axes[len(chart.panels) :]:
            own.set_axis_off()
        if entries := chart.legend:
            canvas.legend(handles=_handles(entries), fontsize=7.5, loc="outside lower left", ncols=min(3, len(entries)))
        canvas.suptitle(f"{chart.title}\n{chart.note}" if chart.note else chart.title, x=0.01, ha="left", fontsize=10)
        return canvas


def _draw_xy(axes: Axes, chart: XYChart, letters: int) -> None:
    for series in chart.series:
        if series.marks:
            _draw_series(axes, series)
    axes.set_xlabel(chart.x_label)
    axes.set_ylabel(chart.y_label)
    if chart.log_x:
        axes.set_xscale("log")
    if chart.log_y:
        axes.set_yscale("log")
    if chart.y_range:
        axes.set_ylim(*chart.y_range)
    _set_ticks(axes, "x", chart.x_ticks, chart.log_x, letters)
    _set_ticks(axes, "y", chart.y_ticks, chart.log_y, letters)
    axes.grid()


def _set_ticks(axes: Any, which: str, ticks: Sequence[float], log: bool, letters: int) -> None:
    """Given ticks, as many as have room, or round ones; numbers as everywhere else."""
    from matplotlib.ticker import FuncFormatter, NullFormatter

    axis = getattr(axes, f"{which}axis")
    low, high = getattr(axes, f"get_{which}lim")()
    scale = Axis(float(low), float(high), log)
    chosen = [tick for tick in ticks or scale.ticks() if low <= tick <= high]
    if which == "x":
        chosen = spaced(scale, chosen, letters)
    axis.set_ticks(chosen, [number(float(tick)) for tick in chosen])
    axis.set_minor_formatter(NullFormatter())
    axis.set_major_formatter(FuncFormatter(lambda value, _: number(float(value))))
    if ticks:
        axis.minorticks_off()


def _look(series: ChartSeries) -> dict[str, Any]:
    """What tells a series from others, on the axes and in the legend alike."""
    style = series.style
    shaped = style in ("points", "joined")
    thin = style in ("dashed", "dotted", "dash-dotted") or series.faint
    return {
        "color": COLOURS[series.tone],
        "linestyle": LINES.get(style, "none"),
        "marker": SHAPES[series.shape] if shaped else MARKS.get(style),
        "ms": {"ticks": 7, "arrows": 9, "crosses": 5}.get(style, 4.0),
        "lw": 0.8 if thin and series.tone not in ("grey", "ink") else 1.1,
        "alpha": 0.45 if series.faint else 1.0,
        "zorder": LAYERS.get(style, 4),
    }


def _draw_series(axes: Axes, series: ChartSeries) -> None:
    xs, ys = [mark.x for mark in series.marks], [mark.y for mark in series.marks]
    colour = COLOURS[series.tone]
    label = series.name if series.in_legend else "_"
    if series.style == "band":
        low, high = zip(*(mark.interval or (mark.y, mark.y) for mark in series.marks), strict=True)
        axes.fill_between(xs, low, high, color=colour, alpha=0.18, lw=0, zorder=LAYERS["band"], label=label)
        return
    for mark in series.marks:
        if mark.interval:
            axes.plot([mark.x] * 2, mark.interval, lw=2.5, alpha=0.4, color=colour, zorder=2, label="_")
    axes.plot(xs, ys, label=label, **_look(series))
    if any(mark.spread for mark in series.marks):
        axes.errorbar(xs, ys, [mark.spread or 0 for mark in series.marks], fmt="none", color=colour, capsize=2, lw=0.9)


def _handles(entries: Sequence[ChartSeries]) -> list[Any]:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    return [
        Patch(color=COLOURS[series.tone], alpha=0.18, lw=0, label=series.name)
        if series.style == "band"
        else Line2D([], [], label=series.name, **_look(series))
        for series in entries
    ]


def _draw_bars(axes: Axes, chart: BarChart, own: bool) -> None:
    for row, bar in enumerate(chart.bars):
        start = 1 if chart.log else 0
        axes.barh(row, bar.value - start, height=0.66, left=start, color=COLOURS[bar.tone], alpha=0.85)
        axes.annotate(
            bar.shown or number(bar.value), (max(bar.value, start), row), xytext=(4, 0), textcoords="offset points",
            va="center", fontsize=7.5, bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 0.5},
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
        if own:
            # Below the axes: between them bars and the line leave no corner that is surely free.
            axes.figure.legend(handles=handles, fontsize=7.5, loc="outside lower center", ncols=min(3, len(handles)))
        else:
            axes.legend(handles=handles, fontsize=7.5)


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
            axes.text(column, row, number(value, 2), ha="center", va="center", fontsize=6.5, color=ink)
    return shown
