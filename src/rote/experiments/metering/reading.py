"""What the meter says of a subject: the largest load held, its interval, and what more steps would add."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, Literal, NamedTuple

from rote.lm.language_model import ParameterCount
from rote.lm.meter.point import Point
from rote.lm.meter.rounding import ROUNDINGS
from rote.lm.meter.strings import StringShape

MeterProtocol = Literal["strings", "facts"]


class Endless(NamedTuple):
    """Bits per parameter after endless steps, and half of the 95 % interval; not a number where nothing tells."""

    value: float
    half_width: float


@dataclass(frozen=True)
class Reading:
    """What the meter says of a subject."""

    name: str
    protocol: MeterProtocol
    shape: StringShape
    parameters: ParameterCount
    points: tuple[Point, ...]
    """The points of full training, all loads and seeds."""
    shorter: tuple[Point, ...]
    """Points at the best load after half and a quarter of the steps, all seeds."""
    rate: float
    trained: int
    """Points trained now; the others were in the ledger."""

    def at(self, strings: int) -> list[Point]:
        return [point for point in self.points if point.strings == strings]

    @property
    def sizes(self) -> list[int]:
        return sorted({point.strings for point in self.points})

    def mean(self, strings: int) -> float:
        """Mean bits held per parameter at one size."""
        return fmean(point.held for point in self.at(strings)) / self.parameters.total

    @property
    def best(self) -> int | None:
        """The size at which most is held; for facts, the largest at which every seed recalls everything."""
        if self.protocol == "strings":
            return max(self.sizes, key=self.mean)
        whole = [size for size in self.sizes if all(point.complete for point in self.at(size))]
        return max(whole) if whole else None

    @property
    def bits_per_parameter(self) -> float | None:
        return None if self.best is None else self.mean(self.best)

    @property
    def without_embeddings(self) -> float | None:
        held = self.bits_per_parameter
        return None if held is None else held * self.parameters.total / self.parameters.rest

    @property
    def spread(self) -> tuple[float, int]:
        """Standard deviation between seeds in bits per parameter, pooled over the sizes; its degrees of freedom.

        Where every seed recalls everything all hold the same, which says nothing of how they differ elsewhere.
        """
        squares, freedom = 0.0, 0
        for size in self.sizes:
            if self.protocol == "strings" and all(point.complete for point in self.at(size)):
                continue
            held = [point.held / self.parameters.total for point in self.at(size)]
            squares += sum((value - fmean(held)) ** 2 for value in held)
            freedom += len(held) - 1
        return (math.sqrt(squares / freedom) if freedom else math.nan), freedom

    @property
    def half_width(self) -> float:
        """Half of the 95 % interval of the mean, by Student's t; not a number for one seed."""
        return self._interval(1.0)

    def _interval(self, weight: float) -> float:
        """Half of the 95 % interval of a sum of means over seeds whose squared weights add up to `weight`."""
        from scipy.stats import t

        deviation, freedom = self.spread
        if not freedom or self.best is None:
            return math.nan
        return float(t.ppf(0.975, freedom)) * deviation * math.sqrt(weight / len(self.at(self.best)))

    @property
    def by_steps(self) -> list[tuple[int, float]]:
        """Bits per parameter at the best size after each length of training, the mean over seeds."""
        if self.best is None or not self.shorter:
            return []
        points = [*self.shorter, *self.at(self.best)]
        return [
            (steps, fmean(point.held for point in points if point.steps == steps) / self.parameters.total)
            for steps in sorted({point.steps for point in points})
        ]

    @property
    def gain_of_twice(self) -> float:
        """Bits per parameter that the last doubling of the steps added."""
        by_steps = self.by_steps
        return by_steps[-1][1] - by_steps[-2][1] if len(by_steps) > 1 else math.nan

    @property
    def endless(self) -> Endless:
        """Bits per parameter after endless steps, from the three longest trainings."""
        return self._endless([held for _, held in self.by_steps[-3:]])

    @property
    def endless_before(self) -> Endless:
        """The same from the three before the longest: what would have been said with half of the steps."""
        return self._endless([held for _, held in self.by_steps[-4:-1]])

    def _endless(self, held: list[float]) -> Endless:
        value, weight = endless_sum(held)
        half_width = self._interval(weight)
        # An interval wider than what was held tells nothing.
        return (
            Endless(math.nan, math.nan) if half_width > (self.bits_per_parameter or 0) else Endless(value, half_width)
        )

    @property
    def settled(self) -> bool:
        """Whether the last doubling of the steps changed what is held, or what endless steps would hold, by less than
        its interval."""
        if abs(self.gain_of_twice) <= self.half_width:
            return True
        return abs(self.endless.value - self.endless_before.value) <= self.endless.half_width

    @property
    def bracketed(self) -> bool:
        """Whether the plateau is in sight: less is held both at a smaller and at a larger size.

        Of facts, that every seed recalls all of some size, and not of a larger one.
        """
        if self.best is None:
            return False
        return self.best < self.sizes[-1] and (self.protocol == "facts" or self.sizes[0] < self.best)

    @property
    def rounded(self) -> dict[str, float]:
        """Bits per parameter that survive a rounding of the weights, at the best size, the mean over seeds."""
        points = [] if self.best is None else [point for point in self.at(self.best) if not point.diverged]
        if not points:
            return {}
        return {name: fmean(point.rounded[name] for point in points) / self.parameters.total for name in ROUNDINGS}

    @property
    def seconds(self) -> float:
        """Processor time of all points of the reading; the search for the rate apart."""
        return sum(point.seconds for point in (*self.points, *self.shorter))

    @property
    def check_holds(self) -> bool:
        return all(point.fresh_is_nothing for point in self.points)

    def summary(self) -> dict[str, Any]:
        """The numbers, by the names the command line prints."""
        held = self.bits_per_parameter
        return {
            "model": self.name,
            "protocol": self.protocol,
            "parameters": self.parameters.total,
            "embedding_parameters": self.parameters.embeddings,
            "vocab": self.shape.vocab,
            "key": self.shape.key,
            "counted": self.shape.counted,
            "rate": self.rate,
            "bits_per_parameter": held,
            "half_width": self.half_width,
            "without_embeddings": self.without_embeddings,
            "by_steps": [list(pair) for pair in self.by_steps],
            "gain_of_twice": self.gain_of_twice,
            "endless": self.endless.value,
            "endless_half_width": self.endless.half_width,
            "endless_before": self.endless_before.value,
            "settled": self.settled,
            "bracketed": self.bracketed,
            "rounded": self.rounded,
            "largest_fresh_gain": max(point.fresh_gain for point in self.points),
            "check_holds": self.check_holds,
            "points": [point.summary() for point in self.points],
            "trained_now": self.trained,
        }


def endless_sum(held: Sequence[float]) -> tuple[float, float]:
    """Where three values after doublings of the steps lead, and the factor by which that spreads their variance.

    With b what the first doubling added and a what the second did, every further one is taken to add a / b of the one
    before: together a^2 / (b - a). Not a number where a is no smaller than b: then nothing says where it ends.
    """
    if len(held) < 3:
        return math.nan, math.nan
    first, second, last = held
    before, after = second - first, last - second
    if after <= 0:
        return last, 1.0
    if after >= before:
        return math.nan, math.nan
    share = after / (before - after)
    by_after, by_before = 2 * share + share**2, -(share**2)
    weights = (1 + by_after, by_before - by_after, -by_before)
    return last + share * after, sum(weight**2 for weight in weights)
