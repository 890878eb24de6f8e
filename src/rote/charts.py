"""What a chart shows, apart from how it is drawn.

A chart is data: `rote.report.svg` draws it on a page, where hovering tells the numbers, and `rote.report.drawing`
into a file for a paper. Both speak one visual language: a tone names a colour of the palette in `rote.report.style`,
and what tones tell apart, dashes or marks or labels tell apart as well, so that figures survive a grey printer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal

Tone = Literal["blue", "orange", "green", "vermilion", "purple", "sky", "grey"]
TONES: tuple[Tone, ...] = ("blue", "vermilion", "green", "orange", "purple", "sky")
"""In the order in which series take them; grey is for what is only there for comparison."""

Style = Literal["points", "line", "dashed", "dotted", "crosses", "joined"]
"""`joined` is points with a line through them."""

MOST_NARROW = 40
"""Columns of a heat map that half a page holds."""


@dataclass(frozen=True)
class Mark:
    """One point, and what it says when someone points at it."""

    x: float
    y: float
    says: str = ""
    spread: float | None = None
    """Half the length of an error bar."""


@dataclass(frozen=True)
class ChartSeries:
    """Marks that belong together."""

    name: str
    marks: Sequence[Mark]
    style: Style = "points"
    tone: Tone = "blue"
    in_legend: bool = True


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
    wide: ClassVar[bool] = False
    """Whether it takes the whole width of a page."""

    @property
    def marks(self) -> list[Mark]:
        return [mark for series in self.series for mark in series.marks]


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
    """The value of the darkest cell; the largest there is when absent."""

    @property
    def wide(self) -> bool:
        return len(self.columns) > MOST_NARROW

    @property
    def limit(self) -> float:
        """The value of the darkest cell."""
        sizes = [abs(value) for row in self.values for value in row if value is not None]
        return self.high if self.high is not None else max(sizes, default=1.0) or 1.0


Chart = XYChart | BarChart | HeatMap


def number(value: float) -> str:
    """A number as it is read on an axis or in a hint: 1,234; 0.0853; 1.61 M; 1.2e+13."""
    if value == int(value) and abs(value) < 1e6:
        return f"{int(value):,}"
    if 1e-3 <= abs(value) < 1e6:
        return f"{value:,.4g}" if abs(value) < 1e4 else f"{value:,.0f}"
    if 1e6 <= abs(value) < 1e12:
        return f"{value / 1e6:.3g} M" if abs(value) < 1e9 else f"{value / 1e9:.3g} G"
    return f"{value:.2g}"
