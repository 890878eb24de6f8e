"""What the trials of a figure about vector tasks say: points by series, laws, and the verdict on each claim."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from rote.errors import InputError
from rote.experiments.planned_findings import PlannedFindings
from rote.experiments.vectors.capacity import VectorCapacity, capacity_of, thresholds
from rote.experiments.vectors.plan import VectorPlan
from rote.experiments.vectors.trial import Results
from rote.experiments.verdict import Verdict, claims_summary
from rote.measure.laws import LawFit, Points, fit_law
from rote.papers.rules import Rule
from rote.papers.vector_figures import (
    SIZE_LABELS,
    CapacityFigure,
    SaturationFigure,
    Size,
    Threshold,
    VectorFigure,
    VectorSetting,
)


@dataclass(frozen=True)
class VectorPoint:
    """One x of a series: a value a seed."""

    x: float
    values: tuple[float, ...]
    """Examples recalled, accuracy, error, or share of saturated heads."""
    setting: VectorSetting
    seconds: float
    """Processor time of its trials."""
    too_many: tuple[float | None, ...] = ()
    """For each value of a capacity, the fewest examples that were too many: the boundary lies between the two."""
    overlaps: tuple[float, ...] = ()
    """Of pairs of heads, where saturation was measured."""

    @property
    def mean(self) -> float:
        return float(np.mean(self.values))

    @property
    def in_words(self) -> str:
        """Every seed's value; a capacity as the interval that it lies in."""
        if not self.too_many:
            return ", ".join(f"{value:.5g}" for value in self.values)
        return ", ".join(
            f"{value:.0f} to {'?' if high is None else f'{high:.0f}'}"
            for value, high in zip(self.values, self.too_many, strict=True)
        )


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
class VectorFindings(PlannedFindings[VectorFigure]):
    """All that was measured for one figure."""

    plan: VectorPlan
    series: tuple[VectorSeries, ...]
    missing: int
    """Points that have not been run to their end."""

    @property
    def x_label(self) -> str:
        figure = self.plan.figure
        return "training steps" if isinstance(figure, SaturationFigure) else SIZE_LABELS[figure.size]

    @property
    def y_label(self) -> str:
        figure = self.plan.figure
        if isinstance(figure, CapacityFigure):
            return "examples recalled"
        if isinstance(figure, SaturationFigure):
            return "share of saturated heads"
        return "accuracy" if figure.cells[0][0].classes else "mean squared error"

    def decide(self, rule: Rule) -> Verdict:
        from rote.experiments.vectors.verdicts import decide_on_vectors

        return decide_on_vectors(rule, self)

    @property
    def points(self) -> int:
        """Points with a value."""
        return sum(len(series.points) for series in self.series)

    @property
    def processor_seconds(self) -> float:
        """Of all trials behind the figure, whenever they ran; other figures of the run may have had more.

        The search for all labels includes the tries of that for .99 of them, so that the longer one counts.
        """
        longest: dict[tuple[VectorSetting, float, str], float] = {}
        for series in self.series:
            for point in series.points:
                name = "" if isinstance(self.figure, CapacityFigure) else series.name
                key = (point.setting, point.x, name)
                longest[key] = max(longest.get(key, 0.0), point.seconds)
        return sum(longest.values())

    def summary(self) -> dict[str, Any]:
        """Everything as one JSON document."""
        return {
            **self.heading(),
            "missing": self.missing,
            "x": self.x_label,
            "y": self.y_label,
            "points": [
                {
                    "series": series.name,
                    "x": point.x,
                    "values": list(point.values),
                    **({"too_many": list(point.too_many)} if point.too_many else {}),
                    "promised": point.setting.promised,
                    "rank": point.setting.rank,
                    "seconds": point.seconds,
                    **({"mean_overlap": float(np.mean(point.overlaps))} if point.overlaps else {}),
                }
                for series in self.series
                for point in series.points
            ],
            "fits": [
                {"series": series.name, **fit.summary()}
                for series in self.series
                for fit in (series.fit("linear"), series.power)
                if fit is not None
            ],
            "claims": claims_summary(self.verdicts),
        }


def vector_findings(plan: VectorPlan, results: Results) -> VectorFindings:
    """Arrange what has ended; points without a single seed are counted as missing."""
    if not isinstance(plan.figure, CapacityFigure):
        return _arranged(plan, _asked(plan, results))
    searches = (
        capacity_of(setting, threshold, plan.protocol, seed, results)
        for setting, _ in plan.cells
        for threshold in thresholds(setting)
        for seed in range(plan.repeats)
    )
    return capacity_findings(plan, [capacity for capacity in searches if capacity is not None])


def capacity_findings(plan: VectorPlan, capacities: Sequence[VectorCapacity]) -> VectorFindings:
    """Arrange searches that have ended, wherever they ran; those that the plan does not ask for are left out."""
    ended: dict[tuple[VectorSetting, Threshold], list[VectorCapacity]] = {}
    for capacity in sorted(capacities, key=lambda capacity: capacity.seed):
        if capacity.seed < plan.repeats:
            ended.setdefault((capacity.setting, capacity.threshold), []).append(capacity)
    size = plan.figure.size if isinstance(plan.figure, CapacityFigure) else "heads"
    return _arranged(
        plan,
        [
            (f"{setting.in_words}, {threshold.in_words}", _point(size, setting, ended.get((setting, threshold), [])))
            for setting, _ in plan.cells
            for threshold in thresholds(setting)
        ],
    )


def _point(size: Size, setting: VectorSetting, ended: list[VectorCapacity]) -> VectorPoint:
    return VectorPoint(
        getattr(setting, size),
        tuple(float(capacity.recalled) for capacity in ended),
        setting,
        sum(capacity.seconds for capacity in ended),
        tuple(None if capacity.too_many is None else float(capacity.too_many) for capacity in ended),
    )


def _arranged(plan: VectorPlan, rows: list[tuple[str, VectorPoint]]) -> VectorFindings:
    """Points by series, in the order of x."""
    by_series: dict[str, list[VectorPoint]] = {}
    for name, point in rows:
        if point.values:
            by_series.setdefault(name, []).append(point)
    series = tuple(
        VectorSeries(name, tuple(sorted(points, key=lambda point: point.x))) for name, points in by_series.items()
    )
    return VectorFindings(plan, series, sum(len(point.values) < plan.repeats for _, point in rows))


def _asked(plan: VectorPlan, results: Results) -> list[tuple[str, VectorPoint]]:
    figure = plan.figure
    groups: dict[tuple[str, float], list[tuple[VectorSetting, dict[str, Any] | None]]] = {}
    for trial in plan.trials():
        if isinstance(figure, SaturationFigure):
            key = (f"H = {trial.setting.heads}, T = {trial.examples}", float(trial.protocol.steps))
        else:
            key = (f"T = {trial.examples:,}", float(getattr(trial.setting, figure.size)))
        groups.setdefault(key, []).append((trial.setting, results.get(trial.key)))
    rows = []
    for (name, x), members in groups.items():
        ended = [result for _, result in members if result is not None and result["diverged_at"] is None]
        values = tuple(_value(plan, result) for result in ended)
        overlaps = tuple(pair for result in ended for pair in result.get("heads", {}).get("overlaps", ()))
        seconds = sum(result["seconds"] for result in ended)
        rows.append((name, VectorPoint(x, values, members[0][0], seconds, overlaps=overlaps)))
    return rows


def _value(plan: VectorPlan, result: dict[str, Any]) -> float:
    if isinstance(plan.figure, SaturationFigure):
        return float(np.mean(result["heads"]["by_head"]))
    return result["mean_square"] if result["accuracy"] is None else result["accuracy"]
