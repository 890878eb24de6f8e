"""A reproduced figure about vector tasks: every seed, the mean, the law, and the bounds that apply."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from rote.experiments.vectors.findings import VectorFindings, VectorSeries
from rote.papers.vector_figures import CapacityFigure, GridFigure, SaturationFigure
from rote.report.style import BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILION, figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLOURS = (BLUE, SKY, VERMILION, GREEN, PURPLE, ORANGE)
MARKS = ("o", "s", "^", "D", "v", "P")
SMALLEST_SHOWN = 0.8
"""Nothing recalled is drawn here on a logarithmic axis."""
TOO_CLOSE = 1.05
"""Sizes in a smaller ratio share a label."""


def drawn_vectors(findings: VectorFindings) -> Figure:
    """The figure as a matplotlib object."""
    plan = findings.plan
    with figure(7.4, 4.6) as drawn:
        axes = drawn.add_subplot()
        for index, series in enumerate(findings.series):
            _draw_series(axes, series, COLOURS[index % len(COLOURS)], MARKS[index % len(MARKS)], findings)
        if isinstance(plan.figure, CapacityFigure):
            _draw_bounds(axes, findings)
            axes.set_xscale("log")
            axes.set_yscale("log")
        elif isinstance(plan.figure, SaturationFigure):
            axes.set_xscale("log")
            axes.set_ylim(bottom=0)
        elif isinstance(plan.figure, GridFigure) and plan.figure.cells[0][0].classes is None:
            axes.set_yscale("log")
        sizes = sorted({point.x for series in findings.series for point in series.points})
        axes.set_xticks(sizes, _tick_labels(sizes))
        axes.xaxis.minorticks_off()
        axes.set_xlabel(findings.x_label)
        axes.set_ylabel(findings.y_label)
        note = "QUICK: fewer cells and repeats, " if plan.quick else ""
        missing = f", {findings.missing} points incomplete" if findings.missing else ""
        repeats = f"{plan.repeats} seed{'s' if plan.repeats > 1 else ''}"
        axes.set_title(f"{plan.figure.title}\n{note}protocol {plan.protocol}, {repeats}{missing}")
        axes.grid()
        axes.legend(fontsize=7.5, loc="center left", bbox_to_anchor=(1.0, 0.5))
        return drawn


def _draw_series(axes: Any, series: VectorSeries, colour: str, mark: str, findings: VectorFindings) -> None:
    x = [point.x for point in series.points]
    means = [max(point.mean, SMALLEST_SHOWN) if _counts(findings) else point.mean for point in series.points]
    axes.plot(x, means, marker=mark, ms=4.5, lw=1.1, color=colour, label=series.name, zorder=3)
    for point in series.points:
        values = [max(value, SMALLEST_SHOWN) if _counts(findings) else value for value in point.values]
        axes.plot([point.x] * len(values), values, ls="none", marker="_", ms=7, color=colour, zorder=2)
        for low, high in zip(values, point.too_many, strict=False):
            axes.plot([point.x] * 2, [low, low if high is None else high], lw=2.5, alpha=0.4, color=colour, zorder=2)
    line = series.fit("linear")
    if line is None or not _counts(findings) or findings.plan.figure.claims[0].id != "linear-in-heads":
        return
    dense = np.geomspace(min(x), max(x), 200)
    shown = line(dense) > SMALLEST_SHOWN
    axes.plot(dense[shown], line(dense)[shown], color=colour, lw=0.8, ls=(0, (1, 1.5)), zorder=1)


def _tick_labels(sizes: list[float]) -> list[str]:
    """A label for every size, but for one that the next stands too close to."""
    following = [*sizes[1:], math.inf]
    return ["" if after < TOO_CLOSE * size else f"{size:,.0f}" for size, after in zip(sizes, following, strict=True)]


def _counts(findings: VectorFindings) -> bool:
    return isinstance(findings.plan.figure, CapacityFigure)


def _draw_bounds(axes: Any, findings: VectorFindings) -> None:
    """Theorem 1 and the ranks; a line for each number of heads where something else varies."""
    points = [point for series in findings.series for point in series.points]
    size = findings.plan.figure.size if isinstance(findings.plan.figure, CapacityFigure) else "heads"
    numbers = [None] if size == "heads" else sorted({point.setting.heads for point in points}, reverse=True)
    for heads in numbers:
        members = [point for point in points if heads in (None, point.setting.heads)]
        promised = sorted({(point.x, point.setting.promised) for point in members})
        rank = sorted({(point.x, point.setting.rank) for point in members if point.setting.shared})
        fresh = sorted({(point.x, point.setting.rank) for point in members if not point.setting.shared})
        bounds = [(promised, "H(min(n, k) - 1) + 1: Theorem 1", "--"), (fresh, "Hd: rank, fresh contexts", "-.")]
        if rank != promised:
            bounds.insert(1, (rank, "H(n - 1) + 1: rank, one context", ":"))
        named = f", H = {heads}" if len(numbers) > 1 else ""
        weight = 1.1 if heads == numbers[0] else 0.6
        for line, label, style in bounds:
            if line:
                axes.plot(*zip(*line, strict=True), style, color=GREY, lw=weight, label=label + named)
    if findings.plan.figure.claims[0].id == "linear-in-heads":
        axes.plot([], [], color=GREY, lw=0.8, ls=(0, (1, 1.5)), label="straight lines in H")
