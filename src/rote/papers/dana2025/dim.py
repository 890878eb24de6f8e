"""Growth in the embedding dimension: Figures 2a (experiment 3) and 2b (experiment 4, from experiment 1's trials)."""

from __future__ import annotations

import numpy as np

from rote.papers.dana2025.claims import bounds_met, exponent_claim, slope_draws, undecided
from rote.papers.dana2025.head_dim import VARIANTS
from rote.papers.dana2025.heads import EXPERIMENT1, attention
from rote.papers.findings import Findings, Place, Series
from rote.papers.paper import WEIGHTINGS, Cell, Claim, Experiment, Figure, Quick, Verdict, Weighting

HEAD_DIM = 10
FULL = 0.95
"""Accuracy above which experiment 4 takes no points."""


def _bend(variant: str) -> Claim:
    def check(found: Findings, weighting: Weighting) -> Verdict:
        series = found.named(variant)
        if series is None:
            return undecided("this variant was not run")
        beyond = [place.x for place in series.places if place.x >= HEAD_DIM and place.values[weighting]]
        full = [place.x for place in series.places if place.x > HEAD_DIM and (place.mean(weighting) or 0) >= FULL]
        # The first full memory still tells how far accuracy rose at least; those after it tell nothing.
        last = min(full, default=max(beyond, default=0))
        below = slope_draws(series, weighting, 0, HEAD_DIM)
        above = slope_draws(series, weighting, HEAD_DIM, last)
        if below is None or above is None:
            return undecided("too few points on one side of d = k")
        ratios = above / below
        low, high = np.percentile(ratios[1:], [2.5, 97.5])
        why = (
            f"slope {below[0]:.4f} a dimension up to d = k, {'at least ' if full else ''}{above[0]:.4f} beyond"
            f"{f', up to d = {last:g} where the memory is full' if full else ''}: ratio {ratios[0]:.2f} "
            f"({low:.2f} to {high:.2f})"
        )
        numbers = {"below": below[0], "above": above[0], "ratio": ratios[0], "interval": (float(low), float(high))}
        flat = high < 1 / 3 and not full
        return Verdict("holds" if flat else "does not" if low > 1 / 3 else "undecided", why, numbers)

    meaning = "As released (shared)" if variant == "shared" else "Equation (2) (per-head)"
    return Claim(
        f"flat-beyond-k-{variant}",
        f"{meaning}: accuracy grows in d up to k, then is nearly flat",
        "the slope beyond d = k is less than a third of the slope up to it; full memories after the first are left out",
        check,
    )


def _straight(variant: str) -> Claim:
    def check(found: Findings, weighting: Weighting) -> Verdict:
        series = found.named(variant)
        places = [] if series is None else [p for p in series.places if p.x <= HEAD_DIM and p.values[weighting]]
        if len(places) < 4:
            return undecided("too few points up to d = k")
        x = np.array([place.x for place in places])
        y = np.array([np.mean(place.values[weighting]) for place in places])
        off = y - np.polyval(np.polyfit(x, y, 1), x)
        rms, span = float(np.sqrt((off**2).mean())), float(np.ptp(y))
        why = f"distance from a line {rms:.4f} (root mean square) over a rise of {span:.3f}"
        return Verdict("holds" if rms <= 0.05 * span else "does not", why, {"distance": rms, "rise": span})

    meaning = "As released (shared)" if variant == "shared" else "Equation (2) (per-head)"
    return Claim(
        f"linear-to-k-{variant}",
        f"{meaning}: accuracy is linear in d up to k",
        "means are within 5 % of their rise (root mean square) of a line over d <= k",
        check,
    )


FIGURE2A = Figure(
    "dana2025.fig2a",
    "Accuracy against embedding dimension, k = 10, H = 20, N = 50",
    Experiment(
        "dana2025.fig2a",
        tuple(
            Cell(variant, d, attention(50, d, HEAD_DIM, 20, variant=variant))
            for variant in VARIANTS
            for d in range(5, 16)
        ),
        repeats=5,
        quick=Quick(repeats=2),
    ),
    "embedding dimension d",
    ("saturating", "linear"),
    (*(claim(variant) for variant in ("shared", "per-head") for claim in (_straight, _bend)), bounds_met()),
)


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


FIGURE2B = Figure(
    "dana2025.fig2b",
    "Accuracy a head against d = k, N = 50",
    EXPERIMENT1,
    "embedding and head dimension d = k",
    ("cubic", "quadratic", "power"),
    (
        exponent_claim("cubic-in-dim", "The slope in H grows as d^3", 2.7, 3.3),
        exponent_claim("quadratic-in-dim", "The slope in H grows as d^2", 1.7, 2.3),
    ),
    y="slope of accuracy in H",
    saturation=None,
    derive=slopes,
)
