"""Charts of any run: accuracy against one size, and over the grid of two sizes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np

from rote.charts import TONES, ChartSeries, HeatMap, Mark, XYChart
from rote.experiments.ledgers.ledger import TrialRow

SIZES = ("vocab", "context", "dim", "head_dim", "heads", "layers", "width")
MOST_SERIES = 8
"""Most series in one chart. Of more, a subset spread evenly over the family is shown."""


def sizes_chart(rows: Sequence[TrialRow]) -> XYChart | None:
    """Mean accuracy against the size that takes most values, one series per value of the next one."""
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
    """Mean accuracy over the two sizes that take most values. None if fewer than two vary."""
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
