"""What a run's trials show: accuracy against a size with its fit and bounds, and over the grid of two sizes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np

from rote.charts import TONES, ChartSeries, HeatMap, Mark, Tone, XYChart
from rote.experiments.ledgers.ledger import TrialRow
from rote.experiments.lookups.findings import FigureFindings
from rote.papers.paper import Weighting

SIZES = ("vocab", "context", "dim", "head_dim", "heads", "layers", "width")
MOST_SERIES = 8
"""Series that can be told apart; of more, those spread evenly over the family are shown."""


def findings_chart(findings: FigureFindings, weighting: Weighting = "sampled") -> XYChart:
    """Measured points with their spread, the fitted law, the first bound, and what was published."""
    plotted = [series for series in findings.series if any(point.values[weighting] for point in series.points)]
    if len(plotted) > MOST_SERIES:
        plotted = [plotted[index] for index in np.linspace(0, len(plotted) - 1, MOST_SERIES).round().astype(int)]
    drawn: list[ChartSeries] = []
    for index, series in enumerate(plotted):
        tone = TONES[index % len(TONES)]
        points = [(point, mean) for point in series.points if (mean := point.mean(weighting)) is not None]
        marks = [
            Mark(
                point.x,
                mean,
                f"{series.name}, {findings.figure.x} {point.x:g}: {mean:.4f}"
                + (f" ± {spread:.4f}" if (spread := point.spread(weighting)) else "")
                + (f", published {point.published:.4f}" if point.published is not None else ""),
                point.spread(weighting),
            )
            for point, mean in points
        ]
        drawn.append(ChartSeries(series.name, marks, "points", tone))
        fit = next((fit for law in findings.figure.laws if (fit := findings.fit(weighting, law, series.name))), None)
        if fit is not None and len(points) > 1:
            dense = np.linspace(points[0][0].x, points[-1][0].x, 60)
            line = [
                Mark(float(x), float(y))
                for x, y in zip(dense, fit(dense), strict=True)
                if y <= 1.02 or findings.figure.derived
            ]
            drawn.append(ChartSeries(f"fit {fit.formula}", line, "line", tone, in_legend=False))
        promised = [
            Mark(p.x, p.promised["dana2025.theorem1"]) for p in series.points if "dana2025.theorem1" in p.promised
        ]
        if promised:
            drawn.append(ChartSeries("Theorem 1", promised, "dashed", tone, in_legend=False))
        published = [
            Mark(p.x, p.published, f"published: {p.published:.4f}") for p in series.points if p.published is not None
        ]
        if published and weighting == "sampled":
            drawn.append(ChartSeries("published", published, "crosses", "grey", in_legend=False))
    drawn += _key(drawn)
    y_range = None if findings.figure.derived else (0.0, 1.03)
    return XYChart(findings.figure.title, findings.figure.x, findings.figure.y, drawn, y_range=y_range)


def _key(drawn: Sequence[ChartSeries]) -> list[ChartSeries]:
    """Entries of the legend for what lines and crosses mean."""
    grey: Tone = "grey"
    entries = []
    if any(series.name.startswith("fit ") for series in drawn):
        entries.append(ChartSeries("fitted law", (), "line", grey))
    if any(series.name == "Theorem 1" for series in drawn):
        entries.append(ChartSeries("Theorem 1 promises", (), "dashed", grey))
    if any(series.name == "published" for series in drawn):
        entries.append(ChartSeries("published", (), "crosses", grey))
    return entries


def sizes_chart(rows: Sequence[TrialRow]) -> XYChart | None:
    """Mean accuracy against the size that takes most values, a series for each value of the next one."""
    varying = _varying(rows)
    if not varying:
        return None
    across, *others = sorted(varying, key=lambda size: -len(varying[size]))
    by = others[0] if others else None
    values = _spread_evenly(varying[by]) if by else [None]
    series = []
    for index, value in enumerate(values):
        chosen = [row for row in rows if by is None or row.cell["spec"].get(by) == value]
        marks = [
            Mark(
                float(x), float(np.mean(found)), f"{across} {x}: {np.mean(found):.4f}, {len(found)} models", _std(found)
            )
            for x in varying[across]
            if (found := _accuracies([row for row in chosen if row.cell["spec"].get(across) == x]))
        ]
        name = "accuracy" if by is None else f"{by} {value}"
        series.append(ChartSeries(name, marks, "joined", TONES[index % len(TONES)], in_legend=by is not None))
    return XYChart(f"accuracy against {across}", across, "accuracy", series, y_range=(0.0, 1.03))


def grid_chart(rows: Sequence[TrialRow], title: str = "accuracy over the grid") -> HeatMap | None:
    """Mean accuracy over the two sizes that take most values; nothing where fewer than two vary."""
    varying = _varying(rows)
    if len(varying) < 2:
        return None
    across, down = sorted(varying, key=lambda size: -len(varying[size]))[:2]
    cells: defaultdict[tuple[int, int], list[TrialRow]] = defaultdict(list)
    for row in rows:
        spec = row.cell["spec"]
        if across in spec and down in spec:
            cells[int(spec[down]), int(spec[across])].append(row)
    means = {cell: float(np.mean(accuracies)) for cell, trials in cells.items() if (accuracies := _accuracies(trials))}
    values = [[means.get((y, x)) for x in varying[across]] for y in varying[down]]
    others = [size for size in varying if size not in (across, down)]
    note = f", averaged over {', '.join(others)}" if others else ""
    return HeatMap(
        title + note, across, down, [str(x) for x in varying[across]], [str(y) for y in varying[down]], values, high=1.0
    )


def _varying(rows: Sequence[TrialRow]) -> dict[str, list[int]]:
    """Sizes that differ between the models of a run, with their values."""
    sizes = {
        size: sorted({int(row.cell["spec"][size]) for row in rows if size in row.cell.get("spec", {})})
        for size in SIZES
    }
    return {size: values for size, values in sizes.items() if len(values) > 1}


def _spread_evenly(values: list[int]) -> list[int]:
    if len(values) <= MOST_SERIES:
        return values
    return [values[index] for index in np.linspace(0, len(values) - 1, MOST_SERIES).round().astype(int)]


def _accuracies(rows: Sequence[TrialRow]) -> list[float]:
    return [accuracy for row in rows if (accuracy := _accuracy(row.result)) is not None]


def _std(values: Sequence[float]) -> float | None:
    return float(np.std(values, ddof=1)) if len(values) > 1 else None


def _accuracy(result: dict[str, Any]) -> float | None:
    value = result.get("accuracy")
    return float(value) if isinstance(value, int | float) else None
