"""A reproduced figure: data with error bars, the fit with its interval, every bound that applies, published values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rote.experiments.lookups.findings import FigureFindings
from rote.experiments.lookups.series import FigureSeries
from rote.measure.laws import LawFit
from rote.papers.paper import Weighting
from rote.report.style import BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILION, figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLOURS = (BLUE, VERMILION, GREEN, ORANGE, PURPLE, SKY)
MANY = len(COLOURS)
BOUND_LINES = {"dana2025.theorem1": ("Theorem 1: φ(Hk + d)", "--"), "dana2025.previous": ("previous bound", ":")}


def drawn_scaling(findings: FigureFindings, weighting: Weighting = "sampled") -> Figure:
    """The figure as a matplotlib object."""
    plotted = [series for series in findings.series if any(point.values[weighting] for point in series.points)]
    with figure(7.4, 4.6) as drawn:
        axes = drawn.add_subplot()
        colours = series_colours(len(plotted))
        for series, colour in zip(plotted, colours, strict=True):
            _draw_series(axes, series, colour, weighting, findings)
        _draw_bounds(axes, plotted, colours)
        axes.set_xlabel(findings.figure.x)
        axes.set_ylabel(f"{findings.figure.y} ({_weighting_in_words(weighting)})")
        if findings.figure.derived is None:
            axes.set_ylim(0, 1.03)
        axes.set_title(_title(findings))
        axes.grid()
        _legend(axes, findings, weighting)
        return drawn


def _draw_series(axes: Any, series: FigureSeries, colour: Any, weighting: Weighting, findings: FigureFindings) -> None:
    points = [point for point in series.points if point.values[weighting]]
    x = [point.x for point in points]
    means = [point.mean(weighting) for point in points]
    spreads = [point.spread(weighting) or 0.0 for point in points]
    axes.errorbar(x, means, spreads, fmt="o", ms=3.6, color=colour, capsize=2, lw=0.9, label=series.name, zorder=3)
    fit = next((fit for law in findings.figure.laws if (fit := findings.fit(weighting, law, series.name))), None)
    if fit is not None:
        _draw_fit(axes, fit, x, colour, findings.figure.saturation)
    if weighting == "sampled":
        released = [(point.x, point.published) for point in series.points if point.published is not None]
        if released:
            mark = colour if len(findings.series) > MANY else "black"
            axes.plot(*zip(*released, strict=True), ls="none", marker="x", ms=5, mew=1.1, color=mark, zorder=4)


def _draw_fit(axes: Any, fit: LawFit, x: list[float], colour: Any, saturation: float | None) -> None:
    dense = np.linspace(min(x), max(x), 200)
    line = fit(dense)
    inside = np.ones(len(dense), bool) if saturation is None else line <= 1
    axes.plot(dense[inside], line[inside], color=colour, lw=1.1, zorder=2)
    if len(fit.samples):
        low, high = fit.band(dense)
        axes.fill_between(dense[inside], low[inside], high[inside], color=colour, alpha=0.18, lw=0, zorder=1)


def _draw_bounds(axes: Any, plotted: list[FigureSeries], colours: list[Any]) -> None:
    for name, (_, style) in BOUND_LINES.items():
        lines = [
            (colour, [(point.x, point.promised[name]) for point in series.points if name in point.promised])
            for series, colour in zip(plotted, colours, strict=True)
        ]
        lines = [(colour, line) for colour, line in lines if line]
        if not lines:
            continue
        # In a large family the bounds of its first and last member enclose the others'.
        for colour, line in lines if len(plotted) <= MANY else [lines[0], lines[-1]]:
            axes.plot(*zip(*line, strict=True), style, color=colour, lw=0.8, alpha=0.8)


def _legend(axes: Any, findings: FigureFindings, weighting: Weighting) -> None:
    """Series, then what lines and marks mean."""
    from matplotlib.lines import Line2D

    handles, labels = axes.get_legend_handles_labels()
    many = len(handles) > MANY
    if many:  # in the order in which curves lie above each other
        handles, labels = handles[::-1], labels[::-1]
    drawn = (findings.fit(weighting, law, series.name) for series in findings.series for law in findings.figure.laws)
    law = next((fit for fit in drawn if fit is not None), None)
    extra = []
    if law is not None:
        extra.append(Line2D([], [], color=GREY, lw=1.1, label=f"fit {law.formula}, 95 % band"))
    if any(point.published is not None for series in findings.series for point in series.points):
        mark = GREY if many else "black"
        extra.append(Line2D([], [], color=mark, ls="none", marker="x", ms=5, label="released values"))
    for name, (label, style) in BOUND_LINES.items():
        if any(name in point.promised for series in findings.series for point in series.points):
            label += " (first, last)" if many else ""
            extra.append(Line2D([], [], color=GREY, ls=style, lw=0.9, label=label))
    axes.legend(
        [*handles, *extra], [*labels, *(item.get_label() for item in extra)],
        fontsize=7.5, loc="center left", bbox_to_anchor=(1.0, 0.5),
    )  # fmt: skip


def series_colours(count: int) -> list[Any]:
    """A few series are told apart by hue; many, which are an ordered family, by a ramp."""
    if count <= MANY:
        return list(COLOURS[:count])
    import matplotlib

    ramp = matplotlib.colormaps["viridis"]
    return [ramp(0.92 * number / (count - 1)) for number in range(count)]


def _title(findings: FigureFindings) -> str:
    note = "QUICK: fewer cells and repeats, " if findings.quick else ""
    missing = f", {findings.missing} trials missing" if findings.missing else ""
    repeats = f"{findings.repeats} repeat{'s' if findings.repeats > 1 else ''}"
    other = f", positions {findings.positions}" if findings.other_positions else ""
    return f"{findings.figure.title}\n{note}protocol {findings.protocol}{other}, {repeats}{missing}"


def _weighting_in_words(weighting: Weighting) -> str:
    return "pairs weighted as sampled" if weighting == "sampled" else "all pairs alike"
