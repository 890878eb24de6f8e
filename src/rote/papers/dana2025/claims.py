"""How the paper's claims are decided. Each function gives a check that a figure's claim carries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from rote.measure.laws import BOUNDS, Fit
from rote.models.attention_only import AttentionOnly
from rote.papers.findings import Findings, Place, Series
from rote.papers.paper import Claim, Outcome, Verdict, Weighting

Check = Callable[[Findings, Weighting], Verdict]
EXPONENTS = BOUNDS["exponent"]
TOO_FEW = "no series has enough points below saturation"


def exponent_claim(id: str, statement: str, low: float, high: float, series: str | None = None) -> Claim:
    """A claim that a quantity grows like x^e with e between `low` and `high`."""

    def check(found: Findings, weighting: Weighting) -> Verdict:
        names = [one.name for one in found.series if series is None or one.name == series]
        fits = {name: fit for name in names if (fit := found.fit(weighting, "power", name)) is not None}
        if not fits:
            return Verdict("undecided", TOO_FEW, {})
        agree = [name for name, fit in fits.items() if low <= fit.values["exponent"] <= high]
        against = [name for name, fit in fits.items() if name not in agree and _outside(fit, low, high)]
        numbers = {
            name: {"exponent": fit.values["exponent"], "interval": fit.hull("exponent")} for name, fit in fits.items()
        }
        middle = float(np.median([fit.values["exponent"] for fit in fits.values()]))
        if len(fits) == 1:
            ends = next(iter(fits.values())).hull("exponent")
            why = f"exponent {middle:.2f} ({ends[0]:.2f} to {ends[1]:.2f})"
            if middle <= EXPONENTS[0]:
                why = f"exponent at most {ends[1]:.2f}: growth slows down, slower than any power"
        else:
            why = f"exponent {middle:.2f} in the median series, in range in {len(agree)} of {len(fits)}"
            if against:
                why += "; clearly outside: " + ", ".join(
                    f"{name} ({fits[name].values['exponent']:.2f})" for name in against
                )
        outcome: Outcome = "undecided"
        if len(agree) >= 0.75 * len(fits):
            outcome = "holds"
        elif len(against) >= 0.5 * len(fits):
            outcome = "does not"
        return Verdict(outcome, why, numbers)

    rule = (
        f"a + b x^e has e in [{low:g}, {high:g}] in three quarters of the series; refuted when the 95 % interval of e "
        "lies outside in half of them"
    )
    return Claim(id, statement, rule, check)


def _outside(fit: Fit, low: float, high: float) -> bool:
    # At the edge of what is allowed the likelihood has no profile; seeds alone tell.
    edge = fit.values["exponent"] < 2 * EXPONENTS[0]
    least, most = fit.intervals["exponent"] if edge else fit.hull("exponent")
    return most < low or least > high


def bounds_met(id: str = "above-bound") -> Claim:
    """Trained models hold at least what Theorem 1 promises."""

    def check(found: Findings, weighting: Weighting) -> Verdict:
        gaps = [
            (mean - place.promised["dana2025.theorem1"], one.name, place.x)
            for one in found.series
            for place in one.places
            if "dana2025.theorem1" in place.promised and (mean := place.mean(weighting)) is not None
        ]
        if not gaps:
            return Verdict("undecided", "Theorem 1 applies to none of these models", {})
        least, name, x = min(gaps)
        below = sum(gap < 0 for gap, _, _ in gaps)
        numbers = {"smallest_gap": least, "at": {"series": name, "x": x}, "cells": len(gaps), "below": below}
        why = f"smallest gap {least:+.3f} ({name}, x = {x:g}); {below} of {len(gaps)} cells below the bound"
        return Verdict("holds" if below == 0 else "does not", why, numbers)

    return Claim(
        id,
        "Trained models reach at least the accuracy phi(Hk + d) that Theorem 1 promises",
        "the mean of every cell is at or above phi(Hk + d), where the theorem applies",
        check,
    )


def matches_released(mean_within: float = 0.02, each_within: float = 0.04) -> Claim:
    """The run agrees with the released values: two-sided under the paper's protocol, from below under others."""

    def check(found: Findings, weighting: Weighting) -> Verdict:
        if weighting == "uniform":
            return Verdict("undecided", "released values are in the sampled weighting only", {})
        off = [
            (place.difference, one.name, place.x)
            for one in found.series
            for place in one.places
            if place.difference is not None
        ]
        if not off:
            return Verdict("undecided", "no released values for these cells", {})
        values = np.array([difference for difference, _, _ in off])
        numbers = {
            "mean_difference": float(values.mean()),
            "mean_absolute_difference": float(np.abs(values).mean()),
            "largest_absolute_difference": float(np.abs(values).max()),
            "smallest_difference": float(values.min()),
            "cells": len(off),
        }
        if found.protocol == "paper":
            good = bool(np.abs(values).mean() <= mean_within and np.abs(values).max() <= each_within)
            why = (
                f"mean |difference| {np.abs(values).mean():.4f} (at most {mean_within:g}), largest "
                f"{np.abs(values).max():.4f} (at most {each_within:g}), {len(off)} cells"
            )
        else:
            good = bool(values.min() >= -0.005)
            least, name, x = min(off)
            why = f"smallest difference {least:+.4f} ({name}, x = {x:g}), mean {values.mean():+.4f}, {len(off)} cells"
        return Verdict("holds" if good else "does not", why, numbers)

    return Claim(
        "released-values",
        "This run agrees with the released values",
        f"protocol paper: mean |difference| <= {mean_within:g} and each <= {each_within:g}; other protocols, which "
        "train longer or better: no cell more than .005 below",
        check,
    )


def slope_draws(series: Series, weighting: Weighting, low: float, high: float, draws: int = 400) -> np.ndarray | None:
    """Bootstrap slopes of the means against x over [low, high]; the first is that of the means themselves."""
    places = [place for place in series.places if low <= place.x <= high and place.values[weighting]]
    if len(places) < 2:
        return None
    x = np.array([place.x for place in places])
    rng = np.random.default_rng(0)
    means = [_means(places, weighting)]
    means += [
        np.array([rng.choice(place.values[weighting], len(place.values[weighting])).mean() for place in places])
        for _ in range(draws)
    ]
    return np.array([np.polyfit(x, y, 1)[0] for y in means])


def _means(places: list[Place], weighting: Weighting) -> np.ndarray:
    return np.array([np.mean(place.values[weighting]) for place in places])


def per_association(place: Place) -> float:
    """Associations that one unit of accuracy stands for: T / (1 - 1/N), the slope of phi's inverse."""
    spec = place.cell.spec if place.cell is not None else None
    if not isinstance(spec, AttentionOnly):
        return float("nan")
    return spec.vocab**spec.context / (1 - 1 / spec.vocab)


def undecided(why: str, **numbers: Any) -> Verdict:
    return Verdict("undecided", why, numbers)
