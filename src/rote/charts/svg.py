"""Charts as SVG inside a page: text stays text, hovering shows the numbers, colours are classes that follow the page.

Nothing here carries inline styles (a content-security policy forbids that): `page.css` says what the classes
look like, in light and dark.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rote.charts import Bar, BarChart, Chart, ChartSeries, HeatMap, Mark, Panels, XYChart
from rote.charts.axes import Axis, spaced
from rote.display import number
from rote.words import markup

WIDTH, WIDE = 480, 960
"""Of a chart that takes half a page, or all of it, in its own units; a page shows them wider or narrower."""
LETTER = 6.5
"""Mean width of a letter of a label."""
LEGEND_LETTER = 5.6
BAR, GAP = 15, 7
LINE = 17
"""Height of a line of text."""
PANEL = 260
"""Height of a row of panels."""
LINE_STYLES = {"line", "dashed", "dotted", "dash-dotted", "joined"}


def svg(chart: Chart) -> str:
    """The chart as an `svg` element."""
    if isinstance(chart, XYChart):
        height, parts = _xy(chart)
    elif isinstance(chart, Panels):
        height, parts = _panels(chart)
    elif isinstance(chart, BarChart):
        height, parts = _bars(chart)
    else:
        height, parts = _heat(chart)
    label = markup(chart.title)
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
        parts.append(f'<g><title>{markup(name)}: {number(value)}</title>'
                     f'<line class="mark" x1="{x(value):.1f}" x2="{x(value):.1f}" y1="{top - 4:g}" y2="{bottom:g}"/>'
                     f'{_text(x(value), top - 7, name, f"mark-name {anchor}")}</g>')  # fmt: skip
    else:
        parts.append(f'<line class="axis" x1="{zero:.1f}" x2="{zero:.1f}" y1="{top:g}" y2="{bottom:g}"/>')
    height = bottom + 2 * LINE + 8
    legend = list(_tone_legend(chart.legend, height + 6))
    return height + 6 + LINE * _lines(list(chart.legend.values()), WIDTH) if legend else height, parts + legend


def _bar(bar: Bar, zero: float, end: float, y: float, left: float) -> Iterator[str]:
    says = bar.says or f"{bar.name}: {_shown(bar)}"
    name = _cut(bar.name, int(left / LETTER))
    start, width = min(zero, end), max(abs(end - zero), 0.8)
    yield f"<g><title>{markup(says)}</title>"
    yield _text(left - 6, y + BAR - 4, name, "end")
    yield f'<rect class="fill {bar.tone}" x="{start:.1f}" y="{y:g}" width="{width:.1f}" height="{BAR}" rx="1.5"/>'
    yield _text(max(zero, end) + 4, y + BAR - 4, _shown(bar), "value")
    yield "</g>"


def _shown(bar: Bar) -> str:
    return bar.shown or number(bar.value)


def _xy(chart: XYChart) -> tuple[float, list[str]]:
    bottom, parts = _area(chart, _Place(0.0, 0.0, WIDTH, 250.0))
    entries = [series for series in chart.series if series.in_legend]
    height = bottom + 2 * LINE + 8
    return height + LINE * _series_lines(entries, WIDTH) + 4, [*parts, *_series_legend(entries, height + 4, WIDTH)]


def _panels(chart: Panels) -> tuple[float, list[str]]:
    columns = chart.columns
    width, parts, bottom = WIDE / columns, [], 0.0
    for index, panel in enumerate(chart.panels):
        top = index // columns * PANEL
        place = _Place(index % columns * width, top + LINE, width, 190.0)
        parts.append(_text(place.left + 30, top + 12, panel.title, "panel"))
        drawn, own = _area(panel, place)
        parts += own
        bottom = max(bottom, drawn)
    entries, height = chart.legend, bottom + 2 * LINE + 8
    return height + LINE * _series_lines(entries, WIDE) + 4, [*parts, *_series_legend(entries, height + 4, WIDE)]


@dataclass(frozen=True)
class _Place:
    """Where on the drawing a chart goes."""

    left: float
    top: float
    width: float
    height: float


def _area(chart: XYChart, place: _Place) -> tuple[float, list[str]]:
    """Axes, lines and marks; and where the axis at the bottom lies."""
    marks = chart.marks
    ys = [end for mark in marks for end in (mark.y, *(mark.interval or ()))]
    x_axis = Axis.over([*(mark.x for mark in marks), *chart.x_ticks], chart.log_x)
    y_axis = Axis(*chart.y_range, chart.log_y) if chart.y_range else Axis.over([*ys, *chart.y_ticks], chart.log_y)
    ticks = list(chart.y_ticks) or y_axis.ticks()
    left = place.left + 26 + LETTER * max((len(number(float(tick))) for tick in ticks), default=2)
    right, top, bottom = place.left + place.width - 12, place.top + 10, place.top + place.height
    x, y = _Scale(x_axis, left, right), _Scale(y_axis, bottom, top)
    parts = list(_x_axis(x, top, bottom, chart.x_label, chart.x_ticks))
    for tick in ticks:
        parts.append(f'<line class="grid" x1="{left:.1f}" x2="{right:.1f}" y1="{y(tick):.1f}" y2="{y(tick):.1f}"/>')
        parts.append(_text(left - 5, y(tick) + 4, number(float(tick)), "end tick"))
    turned = f'transform="translate({place.left + 12:g} {(top + bottom) / 2:g}) rotate(-90)"'
    parts.append(f'<text class="label middle" {turned}>{markup(chart.y_label)}</text>')
    for series in sorted(chart.series, key=lambda series: series.style != "band"):
        parts += _series(series, x, y)
    return bottom, parts


def _series(series: ChartSeries, x: _Scale, y: _Scale) -> Iterator[str]:
    faint = " faint" if series.faint else ""
    if series.style == "band":
        edges = [(mark.x, mark.interval or (mark.y, mark.y)) for mark in series.marks]
        ends = [(at, low) for at, (low, _) in edges] + [(at, high) for at, (_, high) in reversed(edges)]
        path = " ".join(f"{x(at):.1f},{y(end):.1f}" for at, end in ends)
        yield f'<g><title>{markup(series.name)}</title><polygon class="band {series.tone}" points="{path}"/></g>'
        return
    if series.style in LINE_STYLES and len(series.marks) > 1:
        style = "line" if series.style == "joined" else series.style
        path = " ".join(f"{x(mark.x):.1f},{y(mark.y):.1f}" for mark in series.marks)
        yield (
            f"<g><title>{markup(series.name)}</title>"
            f'<polyline class="{style} {series.tone}{faint}" points="{path}"/></g>'
        )
    for mark in series.marks:
        shape = "" if series.style in LINE_STYLES - {"joined"} else _mark(series, mark, x, y)
        # An invisible disc wide enough to be pointed at.
        hint = mark.says or f"{series.name}: {number(mark.x)}, {number(mark.y)}"
        target = (
            f'<circle class="target" cx="{x(mark.x):.1f}" cy="{y(mark.y):.1f}" r="7"/>' if mark.says or shape else ""
        )
        if shape or target:
            yield f"<g><title>{markup(hint)}</title>{shape}{target}</g>"


def _mark(series: ChartSeries, mark: Mark, x: _Scale, y: _Scale) -> str:
    """A point with its error bar and its interval."""
    at_x, at_y, bars = x(mark.x), y(mark.y), ""
    if mark.interval:
        low, high = (y(end) for end in mark.interval)
        bars += f'<line class="interval {series.tone}" x1="{at_x:.1f}" x2="{at_x:.1f}" y1="{low:.1f}" y2="{high:.1f}"/>'
    if mark.spread:
        low, high = y(mark.y - mark.spread), y(mark.y + mark.spread)
        bars += f'<line class="line {series.tone}" x1="{at_x:.1f}" x2="{at_x:.1f}" y1="{low:.1f}" y2="{high:.1f}"/>'
    return bars + _point(series, at_x, at_y)


OUTLINES = {
    "square": "-2.7,-2.7 2.7,-2.7 2.7,2.7 -2.7,2.7",
    "triangle": "0,-3.4 3.2,2.6 -3.2,2.6",
    "down": "0,3.4 3.2,-2.6 -3.2,-2.6",
    "diamond": "0,-3.8 3.8,0 0,3.8 -3.8,0",
    "plus": "-1,-3.5 1,-3.5 1,-1 3.5,-1 3.5,1 1,1 1,3.5 -1,3.5 -1,1 -3.5,1 -3.5,-1 -1,-1",
}
STROKES = {"crosses": "m-3.5 -3.5l7 7m0 -7l-7 7", "ticks": "m-5 0h10", "arrows": "m0 6v-13m-3.5 4l3.5 -4l3.5 4"}


def _point(series: ChartSeries, x: float, y: float) -> str:
    """The mark of a series at a place of the drawing."""
    if series.style in STROKES:
        return f'<path class="cross {series.tone}" d="M{x:.1f} {y:.1f}{STROKES[series.style]}"/>'
    if series.shape == "disc":
        return f'<circle class="fill {series.tone}" cx="{x:.1f}" cy="{y:.1f}" r="3"/>'
    outline = OUTLINES[series.shape]
    return f'<polygon class="fill {series.tone}" transform="translate({x:.1f} {y:.1f})" points="{outline}"/>'


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
                left + (column + 0.5) * cell_width, y + cell_height / 2 + 4, number(value, 2), f"middle cell{strength}"
            )
            parts.append(
                f"<g><title>{markup(says)}</title>"
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
                 f"{markup(chart.y_label)}</text>")  # fmt: skip
    return bottom + 2 * LINE + 8, parts


def _cut(name: str, letters: int) -> str:
    return name if len(name) <= letters else name[: letters - 1] + "…"


class _Scale:
    """From values to places on the drawing."""

    def __init__(self, axis: Axis, start: float, end: float) -> None:
        self.axis, self.start, self.end = axis, start, end

    def __call__(self, value: float) -> float:
        return self.start + (self.end - self.start) * self.axis.place(value)


def _x_axis(x: _Scale, top: float, bottom: float, label: str, ticks: Sequence[float] = ()) -> Iterator[str]:
    ticks = ticks or x.axis.ticks()
    named = spaced(x.axis, ticks, (x.end - x.start) / LETTER)
    for tick in ticks:
        yield f'<line class="grid" x1="{x(tick):.1f}" x2="{x(tick):.1f}" y1="{top:g}" y2="{bottom:g}"/>'
        if tick in named:
            yield _text(x(tick), bottom + 14, number(float(tick)), "middle tick")
    yield _text((x.start + x.end) / 2, bottom + 14 + LINE, label, "middle label")


def _tone_legend(legend: dict[str, str], top: float) -> Iterator[str]:
    """What the tones of bars mean."""
    for (tone, name), (x, y) in zip(legend.items(), _legend_places(list(legend.values()), WIDTH), strict=True):
        yield f'<rect class="fill {tone}" x="{x + 5:g}" y="{y + top:g}" width="10" height="10" rx="1.5"/>'
        yield _text(x + 25, y + top + 9, name, "tick")


def _series_legend(entries: Sequence[ChartSeries], top: float, width: float) -> Iterator[str]:
    for series, (x, y) in zip(entries, _legend_places([series.name for series in entries], width), strict=True):
        y += top
        if series.style == "band":
            yield f'<rect class="band {series.tone}" x="{x:g}" y="{y:g}" width="20" height="10"/>'
        elif series.style in LINE_STYLES:
            style = "line" if series.style == "joined" else series.style
            yield f'<line class="{style} {series.tone}" x1="{x:g}" x2="{x + 20:g}" y1="{y + 5:g}" y2="{y + 5:g}"/>'
        if series.style not in LINE_STYLES - {"joined"} | {"band"}:
            yield _point(series, x + 10, y + 5)
        yield _text(x + 25, y + 9, series.name, "tick")


def _legend_places(names: Sequence[str], room: float) -> list[tuple[float, float]]:
    """In columns as wide as the longest name."""
    width = 40 + LEGEND_LETTER * max((len(name) for name in names), default=0)
    columns = max(1, int((room - 12) / width))
    return [(12 + index % columns * width, index // columns * float(LINE)) for index in range(len(names))]


def _series_lines(entries: Sequence[ChartSeries], room: float) -> int:
    """Lines that a legend takes."""
    return _lines([series.name for series in entries], room)


def _lines(names: Sequence[str], room: float) -> int:
    places = _legend_places(names, room)
    return int(places[-1][1] / LINE) + 1 if places else 0


def _text(x: float, y: float, text: str, kind: str = "") -> str:
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}">{markup(text)}</text>'
