"""Charts as SVG inside a page: text stays text, hovering tells the numbers, colours are classes that follow the page.

Nothing here carries a style of its own (a content-security policy forbids that): `page.css` says what the classes
look like, in light and dark.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from html import escape
from itertools import pairwise

from rote.charts import Bar, BarChart, Chart, ChartSeries, HeatMap, Mark, XYChart, number
from rote.report.axes import Axis

WIDTH, WIDE = 480, 960
"""Of a chart that takes half a page, or all of it, in its own units; a page shows them wider or narrower."""
LETTER = 6.5
"""Mean width of a letter of a label."""
LEGEND_LETTER = 5.6
BAR, GAP = 15, 7
LINE = 17
"""Height of a line of text."""


def svg(chart: Chart) -> str:
    """The chart as an `svg` element."""
    if isinstance(chart, XYChart):
        height, parts = _xy(chart)
    elif isinstance(chart, BarChart):
        height, parts = _bars(chart)
    else:
        height, parts = _heat(chart)
    label = escape(chart.title, quote=True)
    kind, width = ("chart wide", WIDE) if chart.wide else ("chart", WIDTH)
    head = f'<svg class="{kind}" viewBox="0 0 {width} {height:g}" role="img" aria-label="{label}">'
    return "".join([head, *parts, "</svg>"])


def _bars(chart: BarChart) -> tuple[float, list[str]]:
    values = [bar.value for bar in chart.bars] + ([chart.line[0]] if chart.line else [])
    axis = Axis.over([1.0, *values], True) if chart.log else Axis.over(values, from_zero=True)
    left = min(200.0, 12 + LETTER * max((len(bar.name) for bar in chart.bars), default=0))
    room = LETTER * max((len(_shown(bar)) for bar in chart.bars), default=0) + 10
    x = _Scale(axis, left, WIDTH - room)
    top = 8 + (LINE if chart.line else 0)
    bottom = top + len(chart.bars) * (BAR + GAP)
    parts = list(_x_axis(x, top, bottom, chart.x_label))
    zero = x(1.0 if chart.log else 0.0)
    for row, bar in enumerate(chart.bars):
        y = top + GAP / 2 + row * (BAR + GAP)
        parts += _bar(bar, zero, x(bar.value), y, left)
    if chart.line:
        value, name = chart.line
        anchor = "end" if axis.place(value) > 0.6 else "start"
        parts.append(f'<g><title>{escape(name)}: {number(value)}</title>'
                     f'<line class="mark" x1="{x(value):.1f}" x2="{x(value):.1f}" y1="{top - 4:g}" y2="{bottom:g}"/>'
                     f'{_text(x(value), top - 7, name, f"mark-name {anchor}")}</g>')  # fmt: skip
    else:
        parts.append(f'<line class="axis" x1="{zero:.1f}" x2="{zero:.1f}" y1="{top:g}" y2="{bottom:g}"/>')
    height = bottom + 2 * LINE + 8
    legend = [(f'class="fill {tone}"', "rect", name) for tone, name in chart.legend.items()]
    rows = list(_legend(legend, height + 6))
    return height + 6 + LINE * _legend_lines(legend) if rows else height, parts + rows


def _bar(bar: Bar, zero: float, end: float, y: float, left: float) -> Iterator[str]:
    says = bar.says or f"{bar.name}: {_shown(bar)}"
    name = _cut(bar.name, int(left / LETTER))
    start, width = min(zero, end), max(abs(end - zero), 0.8)
    yield f"<g><title>{escape(says)}</title>"
    yield _text(left - 6, y + BAR - 4, name, "end")
    yield f'<rect class="fill {bar.tone}" x="{start:.1f}" y="{y:g}" width="{width:.1f}" height="{BAR}" rx="1.5"/>'
    yield _text(max(zero, end) + 4, y + BAR - 4, _shown(bar), "value")
    yield "</g>"


def _shown(bar: Bar) -> str:
    return bar.shown or number(bar.value)


def _xy(chart: XYChart) -> tuple[float, list[str]]:
    marks = chart.marks
    ys = list(chart.y_range) if chart.y_range else [mark.y for mark in marks]
    x_axis = Axis.over([mark.x for mark in marks], chart.log_x)
    y_axis = Axis(*chart.y_range) if chart.y_range else Axis.over(ys, chart.log_y)
    ticks = y_axis.ticks()
    left = 26 + LETTER * max((len(number(tick)) for tick in ticks), default=2)
    top, bottom = 10.0, 250.0
    x, y = _Scale(x_axis, left, WIDTH - 12), _Scale(y_axis, bottom, top)
    parts = list(_x_axis(x, top, bottom, chart.x_label))
    for tick in ticks:
        parts.append(f'<line class="grid" x1="{left:.1f}" x2="{WIDTH - 12}" y1="{y(tick):.1f}" y2="{y(tick):.1f}"/>')
        parts.append(_text(left - 5, y(tick) + 4, number(tick), "end tick"))
    middle = (top + bottom) / 2
    parts.append(f'<text class="label middle" transform="translate(12 {middle:g}) rotate(-90)">'
                 f"{escape(chart.y_label)}</text>")  # fmt: skip
    for series in chart.series:
        parts += _series(series, x, y)
    height = bottom + 2 * LINE + 8
    legend = [(f'class="{series.style} {series.tone}"', series.style, series.name)
              for series in chart.series if series.in_legend]  # fmt: skip
    parts += _legend(legend, height + 4)
    return height + LINE * _legend_lines(legend) + 4, parts


def _series(series: ChartSeries, x: _Scale, y: _Scale) -> Iterator[str]:
    if series.style in ("line", "dashed", "dotted", "joined") and len(series.marks) > 1:
        style = "line" if series.style == "joined" else series.style
        path = " ".join(f"{x(mark.x):.1f},{y(mark.y):.1f}" for mark in series.marks)
        yield f'<g><title>{escape(series.name)}</title><polyline class="{style} {series.tone}" points="{path}"/></g>'
    for mark in series.marks:
        shape = "" if series.style in ("line", "dashed", "dotted") else _mark(series, mark, x, y)
        # An invisible disc wide enough to be pointed at.
        hint = mark.says or f"{series.name}: {number(mark.x)}, {number(mark.y)}"
        target = (
            f'<circle class="target" cx="{x(mark.x):.1f}" cy="{y(mark.y):.1f}" r="7"/>' if mark.says or shape else ""
        )
        if shape or target:
            yield f"<g><title>{escape(hint)}</title>{shape}{target}</g>"


def _mark(series: ChartSeries, mark: Mark, x: _Scale, y: _Scale) -> str:
    at_x, at_y = x(mark.x), y(mark.y)
    if series.style == "crosses":
        return "".join(
            f'<line class="cross {series.tone}" x1="{at_x - 3.5:.1f}" x2="{at_x + 3.5:.1f}" '
            f'y1="{at_y - slope * 3.5:.1f}" y2="{at_y + slope * 3.5:.1f}"/>'
            for slope in (1, -1)
        )
    error = ""
    if mark.spread:
        ends = y(mark.y - mark.spread), y(mark.y + mark.spread)
        error = (
            f'<line class="line {series.tone}" x1="{at_x:.1f}" x2="{at_x:.1f}" y1="{ends[0]:.1f}" y2="{ends[1]:.1f}"/>'
        )
    return f'{error}<circle class="fill {series.tone}" cx="{at_x:.1f}" cy="{at_y:.1f}" r="3"/>'


def _heat(chart: HeatMap) -> tuple[float, list[str]]:
    left = 26 + LETTER * min(22, max((len(row) for row in chart.rows), default=1))
    top = 6.0
    width = WIDE if chart.wide else WIDTH
    cell_width = (width - left - 8) / max(1, len(chart.columns))
    cell_height = max(4.0, min(22.0, 420 / max(1, len(chart.rows))))
    bottom = top + cell_height * len(chart.rows)
    numbers = cell_width >= 34 and cell_height >= 13
    parts = []
    for row, (name, values) in enumerate(zip(chart.rows, chart.values, strict=True)):
        y = top + row * cell_height
        if cell_height >= 11 or row % math.ceil(11 / cell_height) == 0:
            parts.append(_text(left - 5, y + cell_height / 2 + 4, _cut(name, 22), "end tick"))
        for column, value in zip(range(len(chart.columns)), values, strict=True):
            if value is None:
                continue
            says = f"{chart.y_label} {name}, {chart.x_label} {chart.columns[column]}: {number(value)}"
            share = min(1.0, abs(value) / chart.limit)
            hue = "vermilion" if value < 0 else "blue"
            # Where numbers stop being legible in the page's ink: sooner on a dark page, whose cells grow brighter.
            strength = " warm strong" if share > 0.85 else " warm" if share > 0.68 else ""
            inside = _text(
                left + (column + 0.5) * cell_width, y + cell_height / 2 + 4, _short(value), f"middle cell{strength}"
            )
            parts.append(
                f"<g><title>{escape(says)}</title>"
                f'<rect class="fill {hue}" x="{left + column * cell_width:.1f}" y="{y:.1f}" '
                f'width="{max(cell_width - 1, 0.5):.1f}" height="{max(cell_height - 1, 0.5):.1f}" '
                f'fill-opacity="{0.04 + 0.96 * share:.3f}"/>{inside if numbers else ""}</g>'
            )
    every = max(1, int(26 / cell_width + 0.999)) if max(map(len, chart.columns), default=0) < 6 else 1
    longest = max(2, int(every * cell_width / LETTER))
    for column in range(0, len(chart.columns), every):
        name = chart.columns[column]
        parts.append(_text(left + (column + 0.5) * cell_width, bottom + 14, _cut(name, longest), "middle tick"))
    parts.append(_text((left + width) / 2, bottom + 14 + LINE, chart.x_label, "middle label"))
    middle = (top + bottom) / 2
    parts.append(f'<text class="label middle" transform="translate(12 {middle:g}) rotate(-90)">'
                 f"{escape(chart.y_label)}</text>")  # fmt: skip
    return bottom + 2 * LINE + 8, parts


def _cut(name: str, letters: int) -> str:
    return name if len(name) <= letters else name[: letters - 1] + "…"


def _short(value: float) -> str:
    return f"{value:.2f}" if abs(value) < 10 else number(round(value))


class _Scale:
    """From values to places on the drawing."""

    def __init__(self, axis: Axis, start: float, end: float) -> None:
        self.axis, self.start, self.end = axis, start, end

    def __call__(self, value: float) -> float:
        return self.start + (self.end - self.start) * self.axis.place(value)


def _x_axis(x: _Scale, top: float, bottom: float, label: str) -> Iterator[str]:
    ticks = x.axis.ticks()
    room = min((abs(x(b) - x(a)) for a, b in pairwise(ticks)), default=100.0)
    every = max(1, int(LETTER * max((len(number(tick)) for tick in ticks), default=1) / max(room - 4, 1)) + 1)
    for index, tick in enumerate(ticks):
        yield f'<line class="grid" x1="{x(tick):.1f}" x2="{x(tick):.1f}" y1="{top:g}" y2="{bottom:g}"/>'
        if index % every == 0:
            yield _text(x(tick), bottom + 14, number(tick), "middle tick")
    yield _text((x.start + x.end) / 2, bottom + 14 + LINE, label, "middle label")


def _legend(entries: list[tuple[str, str, str]], top: float) -> Iterator[str]:
    for (kind, style, name), (x, y) in zip(entries, _legend_places(entries), strict=True):
        y += top
        if style in ("rect", "points"):
            yield f'<rect {kind.replace("points", "fill")} x="{x + 5:g}" y="{y:g}" width="10" height="10" rx="1.5"/>'
        elif style == "crosses":
            middle = f"M{x + 6:g} {y + 1:g}l8 8m0 -8l-8 8"
            yield f'<path {kind.replace("crosses", "cross")} d="{middle}"/>'
        else:
            yield f'<line {kind.replace("joined", "line")} x1="{x:g}" x2="{x + 20:g}" y1="{y + 5:g}" y2="{y + 5:g}"/>'
        yield _text(x + 25, y + 9, name, "tick")


def _legend_places(entries: list[tuple[str, str, str]]) -> list[tuple[float, float]]:
    """In columns as wide as the longest name."""
    width = 40 + LEGEND_LETTER * max((len(name) for _, _, name in entries), default=0)
    columns = max(1, int((WIDTH - 12) / width))
    return [(12 + index % columns * width, index // columns * float(LINE)) for index in range(len(entries))]


def _legend_lines(entries: list[tuple[str, str, str]]) -> int:
    places = _legend_places(entries)
    return int(places[-1][1] / LINE) + 1 if places else 0


def _text(x: float, y: float, text: str, kind: str = "") -> str:
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}">{escape(text)}</text>'
