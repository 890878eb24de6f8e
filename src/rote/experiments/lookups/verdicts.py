"""Verdicts: each rule of `rote.papers.kinds.lookups` applied to what was measured for a figure.

`decide` is asked once per weighting of pairs. A rule that the points cannot settle is undecided, with the reason.
"""

from __future__ import annotations

from functools import singledispatch

import numpy as np

from rote.experiments.lookups.points import LookupPoints, LookupSeries, SeriesPoint
from rote.experiments.power_law import Exponent, agreement, power_outcome
from rote.experiments.verdict import Verdict
from rote.measure.laws import BOUNDS, LawFit
from rote.models.attention_only import AttentionOnly
from rote.papers.claims import GrowsAs, Rule
from rote.papers.kinds.lookups import (
    FlatBeyond,
    MatchesReleased,
    MeetsTheorem1,
    MlpBetterAtEqualSize,
    SameAtEqualSize,
    SlopeAbovePromise,
    SlopePerHeadDim,
    StraightUpTo,
    Weighting,
)

EXPONENTS = BOUNDS["exponent"]
TOO_FEW = "no series has enough points below saturation"


@singledispatch
def decide(rule: Rule, measured: LookupPoints, weighting: Weighting) -> Verdict:
    """The verdict on a claim of this rule."""
    raise TypeError(f"no verdict is defined for the rule {type(rule).__name__}")


@decide.register
def _(rule: GrowsAs, measured: LookupPoints, weighting: Weighting) -> Verdict:
    names = [series.name for series in measured.series if rule.series in (None, series.name)]
    fits = {name: fit for name in names if (fit := measured.fit(weighting, "power", name)) is not None}
    if not fits:
        return Verdict("undecided", TOO_FEW)
    exponents = {name: _exponent(fit) for name, fit in fits.items()}
    agree, against = agreement(rule, exponents)
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
    return Verdict(power_outcome(rule, exponents), why, numbers)


def _exponent(fit: LawFit) -> Exponent:
    # At the edge of what is allowed the likelihood has no profile; seeds alone tell.
    edge = fit.values["exponent"] < 2 * EXPONENTS[0]
    return Exponent(fit.values["exponent"], fit.intervals["exponent"] if edge else fit.hull("exponent"))


@decide.register
def _(rule: MeetsTheorem1, measured: LookupPoints, weighting: Weighting) -> Verdict:
    gaps = [
        (mean - point.guaranteed["dana2025.theorem1"], series.name, point.x)
        for series in measured.series
        for point in series.points
        if "dana2025.theorem1" in point.guaranteed and (mean := point.mean(weighting)) is not None
    ]
    if not gaps:
        return Verdict("undecided", "Theorem 1 applies to none of these models")
    least, name, x = min(gaps)
    below = sum(gap < 0 for gap, _, _ in gaps)
    numbers = {"smallest_gap": least, "at": {"series": name, "x": x}, "cells": len(gaps), "below": below}
    why = f"smallest gap {least:+.3f} ({name}, x = {x:g}); {below} of {len(gaps)} cells below the bound"
    return Verdict("holds" if below == 0 else "does not", why, numbers)


@decide.register
def _(rule: MatchesReleased, measured: LookupPoints, weighting: Weighting) -> Verdict:
    if weighting == "uniform":
        return Verdict("undecided", "released values are in the sampled weighting only")
    off = [
        (point.difference, series.name, point.x)
        for series in measured.series
        for point in series.points
        if point.difference is not None
    ]
    if not off:
        return Verdict("undecided", "no released values for these cells")
    values = np.array([difference for difference, _, _ in off])
    numbers = {
        "mean_difference": float(values.mean()),
        "mean_absolute_difference": float(np.abs(values).mean()),
        "largest_absolute_difference": float(np.abs(values).max()),
        "smallest_difference": float(values.min()),
        "cells": len(off),
    }
    if measured.schedule.protocol == "paper":
        good = bool(np.abs(values).mean() <= rule.mean_within and np.abs(values).max() <= rule.each_within)
        why = (
            f"mean |difference| {np.abs(values).mean():.4f} (at most {rule.mean_within:g}), largest "
            f"{np.abs(values).max():.4f} (at most {rule.each_within:g}), {len(off)} cells"
        )
    else:
        good = bool(values.min() >= -rule.below)
        least, name, x = min(off)
        why = f"smallest difference {least:+.4f} ({name}, x = {x:g}), mean {values.mean():+.4f}, {len(off)} cells"
    return Verdict("holds" if good else "does not", why, numbers)


@decide.register
def _(rule: FlatBeyond, measured: LookupPoints, weighting: Weighting) -> Verdict:
    series = measured.named(rule.series)
    if series is None:
        return Verdict("undecided", "this variant was not run")
    beyond = [point.x for point in series.points if point.x >= rule.x and point.values[weighting]]
    full = [point.x for point in series.points if point.x > rule.x and (point.mean(weighting) or 0) >= rule.full]
    # The first full memory still tells how far accuracy rose at least; those after it tell nothing.
    last = min(full, default=max(beyond, default=0))
    below = _slope_draws(series, weighting, 0, rule.x)
    above = _slope_draws(series, weighting, rule.x, last)
    if below is None or above is None:
        return Verdict("undecided", "too few points on one side of d = k")
    ratios = above / below
    low, high = np.percentile(ratios[1:], [2.5, 97.5])
    why = (
        f"slope {below[0]:.4f} per dimension up to d = k, {'at least ' if full else ''}{above[0]:.4f} beyond"
        f"{f', up to d = {last:g} where the memory is full' if full else ''}: ratio {ratios[0]:.2f} "
        f"({low:.2f} to {high:.2f})"
    )
    numbers = {"below": below[0], "above": above[0], "ratio": ratios[0], "interval": (float(low), float(high))}
    flat = high < 1 / 3 and not full
    return Verdict("holds" if flat else "does not" if low > 1 / 3 else "undecided", why, numbers)


@decide.register
def _(rule: StraightUpTo, measured: LookupPoints, weighting: Weighting) -> Verdict:
    series = measured.named(rule.series)
    points = [] if series is None else [p for p in series.points if p.x <= rule.x and p.values[weighting]]
    if len(points) < 4:
        return Verdict("undecided", "too few points up to d = k")
    x = np.array([point.x for point in points])
    y = np.array([np.mean(point.values[weighting]) for point in points])
    off = y - np.polyval(np.polyfit(x, y, 1), x)
    rms, span = float(np.sqrt((off**2).mean())), float(np.ptp(y))
    why = f"distance from a line {rms:.4f} (root mean square) over a rise of {span:.3f}"
    return Verdict("holds" if rms <= rule.within * span else "does not", why, {"distance": rms, "rise": span})


@decide.register
def _(rule: SlopeAbovePromise, measured: LookupPoints, weighting: Weighting) -> Verdict:
    ratios = {}
    for series in measured.series:
        fit = measured.fit(weighting, "linear", series.name)
        cell = series.points[0].cell
        if fit is None or cell is None:
            continue
        scale = _per_accuracy(series.points[0]) / cell.spec.head_dim
        low, high = fit.hull("b")
        ratios[series.name] = {"per_head_and_k": fit.values["b"] * scale, "interval": (low * scale, high * scale)}
    if not ratios:
        return Verdict("undecided", TOO_FEW)
    values = [ratio["per_head_and_k"] for ratio in ratios.values()]
    above = sum(ratio["interval"][0] > 1 for ratio in ratios.values())
    below = sum(ratio["interval"][1] < 1 for ratio in ratios.values())
    why = (
        f"each head adds {min(values):.1f} k to {max(values):.1f} k associations (the theorem promises k); above k in "
        f"{above} of {len(ratios)} series"
    )
    outcome = "holds" if above == len(ratios) else "does not" if below >= 0.5 * len(ratios) else "undecided"
    return Verdict(outcome, why, ratios)


@decide.register
def _(rule: SlopePerHeadDim, measured: LookupPoints, weighting: Weighting) -> Verdict:
    fit = measured.fit(weighting, "linear", measured.series[0].name)
    first = measured.series[0].points[0]
    if fit is None or first.cell is None:
        return Verdict("undecided", "too few points below saturation for a line")
    scale = _per_accuracy(first) / first.cell.spec.head_dim
    slope, (low, high) = fit.values["b"] * scale, fit.hull("b")
    ends = (low * scale, high * scale)
    why = f"{slope:.2f} associations per unit of H k ({ends[0]:.2f} to {ends[1]:.2f})"
    if rule.low <= slope <= rule.high:
        return Verdict("holds", why, {"slope": slope, "interval": ends})
    outside = ends[0] > rule.high or ends[1] < rule.low
    return Verdict("does not" if outside else "undecided", why, {"slope": slope, "interval": ends})


@decide.register
def _(rule: SameAtEqualSize, measured: LookupPoints, weighting: Weighting) -> Verdict:
    gaps = _gaps(measured, weighting, rule.full)
    if not gaps:
        return Verdict("undecided", "no pair of cells to compare")
    values = np.array([gap for gap, _, _ in gaps])
    numbers = {"mean_gap": float(values.mean()), "largest_gap": float(np.abs(values).max()), "pairs": len(gaps)}
    most = np.abs(values).max()
    why = f"MLP minus attention {values.mean():+.3f} on average, largest |gap| {most:.3f}, {len(gaps)} pairs"
    return Verdict("holds" if float(np.abs(values).mean()) <= rule.within else "does not", why, numbers)


@decide.register
def _(rule: MlpBetterAtEqualSize, measured: LookupPoints, weighting: Weighting) -> Verdict:
    gaps = _gaps(measured, weighting, rule.full)
    if len(gaps) < 4:
        return Verdict("undecided", "too few pairs of cells to compare")
    above = sum(gap > 0 for gap, _, _ in gaps)
    spreads = [float(np.mean([pair[column] for pair in gaps])) for column in (1, 2)]
    why = (
        f"MLP higher in {above} of {len(gaps)} pairs; spread over seeds {spreads[0]:.4f} (MLP) against "
        f"{spreads[1]:.4f} (attention)"
    )
    numbers = {"higher": above, "pairs": len(gaps), "mlp_spread": spreads[0], "attention_spread": spreads[1]}
    share = above / len(gaps)
    outcome = "holds" if share >= rule.share else "does not" if share <= 1 - rule.share else "undecided"
    return Verdict(outcome, why, numbers)


def _gaps(measured: LookupPoints, weighting: Weighting, full: float) -> list[tuple[float, float, float]]:
    """(MLP minus attention, spread of the MLP's seeds, spread of attention's), full memories aside, point by point."""
    gaps = []
    for series in measured.series:
        other = measured.named(series.name.replace("attention", "MLP"))
        if other is None or other is series:
            continue
        for left, right in zip(series.points, other.points, strict=True):
            attention, mlp = left.mean(weighting), right.mean(weighting)
            if attention is not None and mlp is not None and min(attention, mlp) < full:
                gaps.append((mlp - attention, right.spread(weighting) or 0.0, left.spread(weighting) or 0.0))
    return gaps


def _slope_draws(
    series: LookupSeries, weighting: Weighting, low: float, high: float, draws: int = 400
) -> np.ndarray | None:
    """Bootstrap slopes of the means against x over [low, high]; the first is that of the means themselves."""
    points = [point for point in series.points if low <= point.x <= high and point.values[weighting]]
    if len(points) < 2:
        return None
    x = np.array([point.x for point in points])
    rng = np.random.default_rng(0)
    means = [np.array([np.mean(point.values[weighting]) for point in points])]
    means += [
        np.array([rng.choice(point.values[weighting], len(point.values[weighting])).mean() for point in points])
        for _ in range(draws)
    ]
    return np.array([np.polyfit(x, y, 1)[0] for y in means])


def _per_accuracy(point: SeriesPoint) -> float:
    """Associations that one unit of accuracy stands for: T / (1 - 1/N), the slope of phi's inverse."""
    spec = point.cell.spec if point.cell is not None else None
    if not isinstance(spec, AttentionOnly):
        return float("nan")
    return spec.vocab**spec.context / (1 - 1 / spec.vocab)
