"""Verdicts: each rule of `rote.papers.kinds.lookups` applied to what was measured for a figure.

`decide` is asked once per weighting of pairs. A rule that the points cannot settle is undecided, with the reason.
"""

from __future__ import annotations

from functools import singledispatch
from typing import Any

import numpy as np
from scipy.stats import t as student

from rote.experiments.findings import Verdict
from rote.experiments.lookups.points import LookupPoints, LookupSeries, SeriesPoint
from rote.experiments.power_law import Exponent, agreement, power_outcome
from rote.measure.laws import BOUNDS, LawFit
from rote.models.attention_only import AttentionOnly
from rote.papers.claims import GrowsAs, Rule
from rote.papers.kinds.lookups import (
    MatchesReleased,
    MeetsTheorem1,
    MlpBetterAtEqualSize,
    SameAtEqualSize,
    SlopeAbovePromise,
    SlopePerHeadDim,
    SlowerBeyond,
    StraightUpTo,
    Weighting,
)

EXPONENTS = BOUNDS["exponent"]
TOO_FEW = "no series has enough points below saturation"


@singledispatch
def decide(rule: Rule, measured: LookupPoints, weighting: Weighting) -> Verdict:
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
        if middle < 2 * EXPONENTS[0]:
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
    return Verdict("supported" if below == 0 else "not supported", why, numbers)


@decide.register
def _(rule: MatchesReleased, measured: LookupPoints, weighting: Weighting) -> Verdict:
    if weighting == "uniform":
        return Verdict("undecided", "released values are in the sampled weighting only")
    compared = [
        (point.difference, series.name, point)
        for series in measured.series
        for point in series.points
        if point.difference is not None
    ]
    if not compared:
        return Verdict("undecided", "no released values for these cells")
    off = np.array([difference for difference, _, _ in compared])
    seeds = np.array([len(point.values[weighting]) for _, _, point in compared])
    mean, cells, freedom = float(off.mean()), len(off), int((seeds - 1).sum())
    numbers: dict[str, Any] = {
        "mean_difference": mean,
        "mean_absolute_difference": float(np.abs(off).mean()),
        "largest_absolute_difference": float(np.abs(off).max()),
        "cells": cells,
    }
    if freedom == 0:
        return Verdict("undecided", f"mean difference {mean:+.4f}, {cells} cells; one seed has no error bar", numbers)
    spreads = np.array([point.spread(weighting) or 0.0 for _, _, point in compared])
    # A cell of one seed scatters as the others do; no cell is taken to scatter less than they do on average.
    pooled = float(np.sqrt((spreads**2 * (seeds - 1)).sum() / freedom))
    errors = np.maximum(spreads, pooled) * np.sqrt(1 / seeds + 1 / measured.schedule.figure.experiment.released_repeats)
    half = float(student.ppf(0.975, freedom) * np.sqrt((errors**2).sum()) / cells)
    ends = (mean - half, mean + half)
    # Simultaneous over the cells, so that one of many is not beyond by chance alone.
    beyond = np.abs(off) - student.ppf(1 - 0.025 / cells, freedom) * errors > rule.each_within
    furthest = int(np.argmax(np.abs(off)))
    _, name, point = compared[furthest]
    numbers |= {"interval": ends, "cells_beyond": int(beyond.sum())}
    why = (
        f"mean difference {mean:+.4f} ({ends[0]:+.4f} to {ends[1]:+.4f}), largest {off[furthest]:+.4f} "
        f"({name}, x = {point.x:g}), {beyond.sum()} of {cells} cells beyond {rule.each_within:g}"
    )
    if beyond.any() or ends[0] > rule.mean_within or ends[1] < -rule.mean_within:
        return Verdict("not supported", why, numbers)
    within = max(map(abs, ends)) <= rule.mean_within
    return Verdict("supported" if within else "undecided", why, numbers)


@decide.register
def _(rule: SlowerBeyond, measured: LookupPoints, weighting: Weighting) -> Verdict:
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
        f"{f', up to d = {last:g} where the memory is full' if full else ''}: ratio {ratios[0]:.2f}"
        f"{f' ({low:.2f} to {high:.2f})' if low < high else ''}"
    )
    numbers = {"below": below[0], "above": above[0], "ratio": ratios[0], "interval": (float(low), float(high))}
    # Up to a full memory the slope beyond is only known to be at least so large.
    slower = high < rule.ratio and not full
    return Verdict("supported" if slower else "not supported" if low > rule.ratio else "undecided", why, numbers)


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
    return Verdict("supported" if rms <= rule.within * span else "not supported", why, {"distance": rms, "rise": span})


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
        f"each head adds {min(values):.1f} k to {max(values):.1f} k associations (the theorem guarantees k); above "
        f"k in {above} of {len(ratios)} series"
    )
    outcome = "supported" if above == len(ratios) else "not supported" if below >= 0.5 * len(ratios) else "undecided"
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
    if rule.low <= ends[0] and ends[1] <= rule.high:
        return Verdict("supported", why, {"slope": slope, "interval": ends})
    outside = ends[0] > rule.high or ends[1] < rule.low
    return Verdict("not supported" if outside else "undecided", why, {"slope": slope, "interval": ends})


@decide.register
def _(rule: SameAtEqualSize, measured: LookupPoints, weighting: Weighting) -> Verdict:
    gaps = _gaps(measured, weighting, rule.full)
    if not gaps:
        return Verdict("undecided", "no pair of cells to compare")
    values = np.array([gap for gap, _, _ in gaps])
    sizes = np.abs(values)
    draws = np.random.default_rng(0).choice(sizes, (2000, len(sizes))).mean(1)
    low, high = (float(end) for end in np.percentile(draws, [2.5, 97.5]))
    numbers = {"mean_gap": float(values.mean()), "mean_size": float(sizes.mean()), "interval": (low, high)}
    why = (
        f"mean |gap| {sizes.mean():.3f} ({low:.3f} to {high:.3f}), MLP minus attention {values.mean():+.3f} on "
        f"average, largest |gap| {sizes.max():.3f}, {len(gaps)} pairs"
    )
    outcome = "supported" if high <= rule.within else "not supported" if low > rule.within else "undecided"
    return Verdict(outcome, why, {**numbers, "largest_gap": float(sizes.max()), "pairs": len(gaps)})


@decide.register
def _(rule: MlpBetterAtEqualSize, measured: LookupPoints, weighting: Weighting) -> Verdict:
    gaps = _gaps(measured, weighting, rule.full)
    if len(gaps) < 4:
        return Verdict("undecided", "too few pairs of cells to compare")
    above = sum(gap > 0 for gap, _, _ in gaps)
    spreads = [float(np.mean([pair[column] for pair in gaps])) for column in (1, 2)]
    why = f"MLP higher in {above} of {len(gaps)} pairs"
    if any(spreads):
        why += f"; spread over seeds {spreads[0]:.4f} (MLP) against {spreads[1]:.4f} (attention)"
    numbers = {"higher": above, "pairs": len(gaps), "mlp_spread": spreads[0], "attention_spread": spreads[1]}
    share = above / len(gaps)
    outcome = "supported" if share >= rule.share else "not supported" if share <= 1 - rule.share else "undecided"
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
