"""What was measured for a figure about vector tasks, point by point: a value per seed at each x of a series."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rote.errors import InputError
from rote.experiments.vectors.schedule import VectorSchedule
from rote.measure.laws import LawFit, Points, fit_law
from rote.papers.kinds.vectors import VectorSetting


@dataclass(frozen=True)
class VectorPoint:
    """One x of a series: a value per seed."""

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
