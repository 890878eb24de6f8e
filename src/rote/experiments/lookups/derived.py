"""Points that a figure computes from its experiment's own: slopes of accuracy in the number of heads."""

from __future__ import annotations

import numpy as np

from rote.experiments.lookups.points import LookupSeries, SeriesPoint
from rote.papers.kinds.lookups import FULL, WEIGHTINGS, Weighting


def slopes(measured: list[LookupSeries]) -> list[LookupSeries]:
    """Slope of accuracy in H for every dimension and seed, over points whose mean stays below full."""
    return [LookupSeries("slope in H", tuple(_slope(series) for series in measured))]


def _slope(series: LookupSeries) -> SeriesPoint:
    values: dict[Weighting, list[float]] = {}
    for weighting in WEIGHTINGS:
        kept = [point for point in series.points if (mean := point.mean(weighting)) is not None and mean < FULL]
        seeds = min((len(point.values[weighting]) for point in kept), default=0)
        x = [point.x for point in kept]
        values[weighting] = [
            float(np.polyfit(x, [point.values[weighting][seed] for point in kept], 1)[0])
            for seed in range(seeds)
            if len(kept) > 1
        ]
    released = [(p.x, p.published) for p in series.points if p.published is not None and p.published < FULL]
    published = (
        float(np.polyfit([x for x, _ in released], [y for _, y in released], 1)[0]) if len(released) > 1 else None
    )
    cell = series.points[0].cell
    return SeriesPoint(cell.spec.dim if cell is not None else 0, values, published=published)
