"""Verdicts: each rule of `rote.papers.kinds.vectors` applied to what was measured for a figure about vector tasks."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, singledispatch

import numpy as np

from rote.errors import InputError
from rote.experiments.findings import Verdict
from rote.experiments.power_law import Exponent, power_outcome
from rote.experiments.vectors.schedule import VectorSchedule
from rote.measure.laws import LawFit, Points, fit_law
from rote.papers.claims import GrowsAs, Outcome, Rule
from rote.papers.kinds.vectors import (
    DecreasesWithSize,
    HeadsSplitExamples,
    IncreasesWithSize,
    MeetsPromise,
    NoMoreThanRank,
    NothingBeyond,
    SaturatesWithTraining,
    VectorSetting,
)


@dataclass(frozen=True)
class VectorPoint:
    x: float
    values: tuple[float, ...]
    """Examples recalled, accuracy, error, or share of saturated heads."""
    setting: VectorSetting
    seconds: float
    """CPU time of its trials."""
    too_many: tuple[float | None, ...] = ()
    """For each value of a capacity, the fewest examples that were too many: the boundary lies between the two."""
    overlaps: tuple[float, ...] = ()
    """Of pairs of heads, where saturation was measured."""

    @property
    def mean(self) -> float:
        return float(np.mean(self.values))


@dataclass(frozen=True)
class VectorSeries:
    name: str
    points: tuple[VectorPoint, ...]

    @cached_property
    def power(self) -> LawFit | None:
        """a + b x^e, where there are four points or more."""
        return self.fit("power")

    def fit(self, law: str) -> LawFit | None:
        try:
            return fit_law(Points.of({point.x: point.values for point in self.points}), law)
        except InputError:  # too few points for this form; claims that need it are undecided
            return None


@dataclass(frozen=True)
class VectorPoints:
    """The points of a figure by series: what verdicts are based on."""

    schedule: VectorSchedule
    series: tuple[VectorSeries, ...]
    missing: int
    """Points that have not been run to their end."""


STEP = 0.05
"""Capacities are known to within one rung of the ladder of sizes."""


@singledispatch
def decide_on_vectors(rule: Rule, measured: VectorPoints) -> Verdict:
    raise TypeError(f"no verdict is defined for the rule {type(rule).__name__}")


@decide_on_vectors.register
def _(rule: GrowsAs, measured: VectorPoints) -> Verdict:
    fits = {series.name: fit for series in measured.series if (fit := series.power) is not None}
    if not fits:
        return Verdict("undecided", "no series has the four points that a power law needs")
    lines = {series.name: fit for series in measured.series if (fit := series.fit("linear")) is not None}
    numbers = {
        name: {
            "exponent": fit.values["exponent"],
            "interval": fit.hull("exponent"),
            "slope": lines[name].values["b"],
            "slope_interval": lines[name].hull("b"),
            "offset": lines[name].values["a"],
        }
        for name, fit in fits.items()
    }
    why = "; ".join(
        f"{name}: exponent {law['exponent']:.2f} ({_from_to(law['interval'])}), "
        f"{law['slope']:.0f} per head from {law['offset']:+.0f}"
        for name, law in numbers.items()
    )
    outcome = power_outcome(rule, {name: Exponent.of(fit) for name, fit in fits.items()})
    return Verdict(outcome, why, numbers)


@decide_on_vectors.register
def _(rule: IncreasesWithSize | DecreasesWithSize | SaturatesWithTraining, measured: VectorPoints) -> Verdict:
    sign = -1 if isinstance(rule, DecreasesWithSize) else 1
    moves = [
        (series.name, before, after)
        for series in measured.series
        for before, after in zip(series.points, series.points[1:], strict=False)
    ]
    if not moves:
        return Verdict("undecided", "no series has two points")
    wrong = [
        f"{name}: {before.mean:.4g} at {before.x:g}, {after.mean:.4g} at {after.x:g}"
        for name, before, after in moves
        if sign * (after.mean - before.mean) < -STEP * abs(before.mean)
    ]
    right = sum(sign * (after.mean - before.mean) > 0 for _, before, after in moves)
    ends = "; ".join(
        f"{series.name}: {series.points[0].mean:.4g} at {series.points[0].x:g} to {series.points[-1].mean:.4g} at "
        f"{series.points[-1].x:g}"
        for series in measured.series
    )
    word = "rises" if sign > 0 else "falls"
    why = f"{word} in {right} of {len(moves)} moves; {ends}" + (f"; against: {'; '.join(wrong)}" if wrong else "")
    outcome: Outcome = "not supported" if wrong else "supported" if right == len(moves) else "undecided"
    return Verdict(outcome, why, {"moves": len(moves), "right": right, "wrong": wrong})


@decide_on_vectors.register
def _(rule: NothingBeyond, measured: VectorPoints) -> Verdict:
    pairs: list[tuple[str, VectorPoint, VectorPoint]] = []
    for series in measured.series:
        at = next((point for point in series.points if point.x == rule.x), None)
        last = series.points[-1]
        if at is not None and last.x > rule.x and at.mean > 0:
            pairs.append((series.name, at, last))
    if not pairs:
        return Verdict("undecided", f"no series was run at {rule.x} and beyond")
    ratios = {name: last.mean / at.mean for name, at, last in pairs}
    # All seeds of one beyond all of the other, by more than the margin: the seeds alone do not explain it.
    gained = [name for name, at, last in pairs if min(last.values) > (1 + rule.within) * max(at.values)]
    lost = [name for name, at, last in pairs if (1 + rule.within) * max(last.values) < min(at.values)]
    why = "; ".join(
        f"{name}: {last.mean:.4g} at {last.x:g} over {at.mean:.4g} at {rule.x} = {ratios[name]:.2f}"
        for name, at, last in pairs
    )
    within = all(abs(ratio - 1) <= rule.within for ratio in ratios.values())
    outcome: Outcome = "not supported" if gained else "supported" if within else "undecided"
    return Verdict(outcome, why, {"ratios": ratios, "gained": gained, "lost": lost})


@decide_on_vectors.register
def _(rule: MeetsPromise, measured: VectorPoints) -> Verdict:
    points = [(series.name, point) for series in measured.series for point in series.points]
    if not points:
        return Verdict("undecided", "nothing was run")
    below = [
        f"{name} at {point.x:g}: {min(point.values):g} of {point.setting.guaranteed}"
        for name, point in points
        if min(point.values) < point.setting.guaranteed
    ]
    why = f"met at {len(points) - len(below)} of {len(points)} points" + (
        f"; below: {'; '.join(below)}" if below else ""
    )
    return Verdict("not supported" if below else "supported", why, {"points": len(points), "below": below})


@decide_on_vectors.register
def _(rule: NoMoreThanRank, measured: VectorPoints) -> Verdict:
    ratios = {
        f"{series.name} at {point.x:g}": point.mean / point.setting.rank
        for series in measured.series
        for point in series.points
    }
    if not ratios:
        return Verdict("undecided", "nothing was run")
    above = [name for name, ratio in ratios.items() if ratio > 1]
    most = max(ratios, key=lambda name: ratios[name])
    median = float(np.median(list(ratios.values())))
    why = (
        f"exceeded at {len(above)} of {len(ratios)} points; {median:.1f} times the bound in the median, "
        f"{ratios[most]:.1f} times at most ({most})"
    )
    return Verdict("not supported" if above else "supported", why, ratios)


@decide_on_vectors.register
def _(rule: HeadsSplitExamples, measured: VectorPoints) -> Verdict:
    overlaps = np.array([pair for series in measured.series for point in series.points for pair in point.overlaps])
    if len(overlaps) < 2:
        return Verdict("undecided", "too few pairs of heads that are saturated on any example")
    draws = np.random.default_rng(0).choice(overlaps, (2000, len(overlaps))).mean(1)
    low, high = (float(end) for end in np.percentile(draws, [2.5, 97.5]))
    why = f"mean overlap {overlaps.mean():.2f} ({low:.2f} to {high:.2f}), 1 if independent, {len(overlaps)} pairs"
    outcome: Outcome = "supported" if high < rule.below else "not supported" if low > rule.below else "undecided"
    return Verdict(outcome, why, {"mean": float(overlaps.mean()), "interval": (low, high), "pairs": len(overlaps)})


def _from_to(interval: tuple[float, float]) -> str:
    """An interval in words; resampled fits to four points often tell none."""
    low, high = interval
    known = math.isfinite(low) and math.isfinite(high)
    return f"{low:.2f} to {high:.2f}" if known else "too few points for an interval"
