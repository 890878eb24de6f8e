"""Points that a figure computes from its experiment's own: slopes of accuracy in the number of heads."""

from __future__ import annotations

import numpy as np

from rote.experiments.series import Place, Series
from rote.papers.paper import WEIGHTINGS, Weighting

FULL = 0.95
"""Accuracy above which experiment 4 of Dana et al. 2025 takes no points."""


def slopes(series: list[Series]) -> list[Series]:
    """Slope of accuracy in H for every dimension and seed, over points whose mean stays below .95."""
    places = []
    for one in series:
        values: dict[Weighting, list[float]] = {}
        for weighting in WEIGHTINGS:
            kept = [place for place in one.places if (mean := place.mean(weighting)) is not None and mean < FULL]
            seeds = min((len(place.values[weighting]) for place in kept), default=0)
            x = [place.x for place in kept]
            values[weighting] = [
                float(np.polyfit(x, [place.values[weighting][seed] for place in kept], 1)[0])
                for seed in range(seeds)
                if len(kept) > 1
            ]
        told = [(p.x, p.published) for p in one.places if p.published is not None and p.published < FULL]
        published = float(np.polyfit([x for x, _ in told], [y for _, y in told], 1)[0]) if len(told) > 1 else None
        first = one.places[0].cell
        dim = first.spec.dim if first is not None else 0
        places.append(Place(dim, values, published=published))
    return [Series("slope in H", tuple(places))]
