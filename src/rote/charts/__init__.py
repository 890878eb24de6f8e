"""Charts as data, apart from how they are drawn.

A chart is data: `rote.charts.svg` draws it on a page, where hovering shows the numbers, and `rote.charts.drawing`
by matplotlib, for a file or a notebook. Both use one visual language: a tone names a colour of the palette in
`rote.charts.style`, and series differ in dashes, shapes or labels as well, so that figures survive a
grey printer.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar, Literal

Tone = str
"""A colour by its name: one of `TONES`, of `RAMP`, grey for what is only there for comparison, or ink for text's."""
TONES: tuple[Tone, ...] = ("blue", "vermilion", "green", "orange", "purple", "sky")
"""In the order in which series take them."""
RAMP: tuple[Tone, ...] = tuple(f"ramp{step}" for step in range(12))
"""From dark to light: for many series, which are an ordered family."""

Style = Literal[
    "points", "joined", "line", "dashed", "dotted", "dash-dotted", "crosses", "ticks", "arrows", "band"
]  # fmt: skip
"""`joined` is points with a line through them; `ticks` are short dashes, one per value; `arrows` point up, to what is
more than their mark; a `band` is the area between the intervals of its marks."""

Shape = Literal["disc", "square", "triangle", "diamond", "down", "plus"]
SHAPES: tuple[Shape, ...] = ("disc", "square", "triangle", "diamond", "down", "plus")
"""Of points, in the order in which series take them."""

MOST_NARROW = 40
"""Columns of a heat map that half a page holds."""


def tones(count: int) -> list[Tone]:
    """A tone for each of so many series: hues for a few, a ramp for many."""
    if count <= len(TONES):
        return list(TONES[:count])
    return [RAMP[round(index * (len(RAMP) - 1) / (count - 1))] for index in range(count)]


def shape(index: int) -> Shape:
    """The shape of the points of the series at this place."""
    return SHAPES[index % len(SHAPES)]


@dataclass(frozen=True)
class Mark:
    """One point, and its hover text."""

    x: float
    y: float
    says: str = ""
    spread: float | None = None
    """Half the length of an error bar."""
    interval: tuple[float, float] | None = None
    """Ends of the range in which the value lies: a broad pale bar, or the edges of a band."""


@dataclass(frozen=True)
class ChartSeries:
    """Marks that belong together."""

    name: str
    marks: Sequence[Mark]
    style: Style = "points"
    tone: Tone = "blue"
    in_legend: bool = True
    shape: Shape = "disc"
    faint: bool = False
    """True to draw it behind the others."""


@dataclass(frozen=True)
class XYChart:
    """Points and lines over two axes."""

    title: str
    x_label: str
    y_label: str
    series: Sequence[ChartSeries]
    log_x: bool = False
    log_y: bool = False
    y_range: tuple[float, float] | None = None
    note: str = ""
    """How it was made, in a line under the title."""
    x_ticks: Sequence[float] = ()
    """Values with a tick. Default: round ones."""
    y_ticks: Sequence[float] = ()
    wide: ClassVar[bool] = False
    """True if it takes the full width of a page."""

    @property
    def marks(self) -> list[Mark]:
        return [mark for series in self.series for mark in series.marks]


@dataclass(frozen=True)
class Panels:
    """Several charts in a grid, with one legend: a series of one name looks alike in all of them."""

    title: str
    panels: Sequence[XYChart]
    note: str = ""
    wide: ClassVar[bool] = True

    @property
    def columns(self) -> int:
        return 2 if len(self.panels) in (2, 4) else min(3, max(1, len(self.panels)))

    @property
    def legend(self) -> list[ChartSeries]:
        """The first series of each name that has an entry."""
        named: dict[str, ChartSeries] = {}
        for series in (series for panel in self.panels for series in panel.series if series.in_legend):
            named.setdefault(series.name, series)
        return list(named.values())


@dataclass(frozen=True)
class Bar:
    """A row of a bar chart."""

    name: str
    value: float
    says: str = ""
    tone: Tone = "blue"
    shown: str = ""
    """The number as it is printed at the bar's end."""


@dataclass(frozen=True)
class BarChart:
    """Rows of bars from zero (or from one, on a logarithmic axis), positive to the right."""

    title: str
    x_label: str
    bars: Sequence[Bar]
    log: bool = False
    line: tuple[float, str] | None = None
    """A value to compare all bars with, and its name."""
    legend: dict[Tone, str] = field(default_factory=dict)
    note: str = ""
    wide: ClassVar[bool] = False


@dataclass(frozen=True)
class HeatMap:
    """Numbers over a grid: the darker the larger, negative ones in another hue. Cells without a number are empty."""

    title: str
    x_label: str
    y_label: str
    columns: Sequence[str]
    rows: Sequence[str]
    values: Sequence[Sequence[float | None]]
    high: float | None = None
    """The value of the darkest cell. Default: the largest value."""
    note: str = ""

    @property
    def wide(self) -> bool:
        return len(self.columns) > MOST_NARROW

    @property
    def limit(self) -> float:
        """The value of the darkest cell."""
        sizes = [abs(value) for row in self.values for value in row if value is not None]
        return self.high if self.high is not None else max(sizes, default=1.0) or 1.0


Chart = XYChart | Panels | BarChart | HeatMap


def digest(chart: Chart) -> str:
    """A fingerprint of what a chart shows, numbers to six digits: two charts with one digest look alike."""
    return hashlib.sha256(json.dumps(_plain(asdict(chart))).encode()).hexdigest()


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    return f"{value:.6g}" if isinstance(value, float) else value
