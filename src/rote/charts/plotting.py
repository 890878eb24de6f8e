"""`.plot(ax=)` of results: their chart on matplotlib axes of yours, or on new ones."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

from rote.charts import Chart, Panels
from rote.errors import InputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Plotted:
    """A result that has a chart."""

    @abstractmethod
    def chart(self) -> Chart:
        """The chart as data; `rote.charts.drawing` and `rote.charts.svg` draw it."""

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the chart on matplotlib axes and return them. Default: axes of a new figure.

        Of a chart with several panels, the axes of the first are returned (`axes.figure.axes` has all); it needs a
        figure of its own.
        """
        return plot(self.chart(), ax)


def plot(chart: Chart, ax: Any = None) -> Axes:
    """Draw a chart on these axes, or on those of a new figure; returns the axes."""
    from rote.charts.drawing import draw, drawn

    if ax is None:
        return drawn(chart).axes[0]
    if isinstance(chart, Panels):
        raise InputError(
            f"`ax`: this chart has {len(chart.panels)} panels and needs a figure of its own; leave `ax` out"
        )
    draw(chart, ax)
    return ax
