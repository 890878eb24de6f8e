"""The capacity estimate of a language model: bits per parameter, their interval, and the gain of more steps."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean
from typing import Any, Literal, NamedTuple

from rote.charts import ChartSeries, Mark, XYChart
from rote.charts.plotting import Plotted
from rote.experiments.published_levels import MORRIS_2025, level, published_levels
from rote.lm.capacity.point import ROUNDINGS, LmCapacityPoint
from rote.lm.capacity.strings import StringShape
from rote.lm.language_model import ParameterCount

MeterProtocol = Literal["strings", "facts"]


DOUBLINGS = 3
"""Doublings of the steps beyond those tried that the interval covers: eight times the steps."""


class ReadingInterval(NamedTuple):
    """An interval of bits per parameter; NaN for a single seed."""

    low: float
    high: float


@dataclass(frozen=True)
class LmCapacity(Plotted):
    """The capacity estimate of a language model."""

    name: str
    protocol: MeterProtocol
    shape: StringShape
    parameters: ParameterCount
    points: tuple[LmCapacityPoint, ...]
    """The points of full training, all loads and seeds."""
    shorter: tuple[LmCapacityPoint, ...]
    """The points of shorter trainings at the best load, all seeds."""
    rate: float
    trained: int
    """Points trained now; the others were in the ledger."""
    effective: int | None = None
    """Of adapters: the numbers without the r^2 per matrix that change nothing."""

    def at(self, strings: int) -> list[LmCapacityPoint]:
        return [point for point in self.points if point.strings == strings]

    @property
    def sizes(self) -> list[int]:
        return sorted({point.strings for point in self.points})

    def mean(self, strings: int) -> float:
        """Mean bits held per parameter at one size."""
        return fmean(point.held for point in self.at(strings)) / self.parameters.total

    @property
    def best(self) -> int | None:
        """The number of strings at which most is held; for facts, the largest with full recall in every seed."""
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
    def per_effective_parameter(self) -> float | None:
        """Of adapters: bits per number that matters."""
        held = self.bits_per_parameter
        return None if held is None or self.effective is None else held * self.parameters.total / self.effective

    @property
    def spread(self) -> tuple[float, int]:
        """Standard deviation between seeds in bits per parameter, pooled over sizes and steps, and its degrees of
        freedom.

        Groups in which every seed has full recall are left out: they hold the same by definition.
        """
        groups: dict[tuple[int, int], list[LmCapacityPoint]] = {}
        for point in (*self.points, *self.shorter):
            groups.setdefault((point.strings, point.steps), []).append(point)
        squares, freedom = 0.0, 0
        for points in groups.values():
            if self.protocol == "strings" and all(point.complete for point in points):
                continue
            held = [point.held / self.parameters.total for point in points]
            squares += sum((value - fmean(held)) ** 2 for value in held)
            freedom += len(held) - 1
        return (math.sqrt(squares / freedom) if freedom else math.nan), freedom

    @property
    def half_width(self) -> float:
        """Half of the 95 % interval of the mean over seeds, by Student's t; NaN for one seed."""
        from scipy.stats import t

        deviation, freedom = self.spread
        if not freedom or self.best is None:
            return math.nan
        return float(t.ppf(0.975, freedom)) * deviation / math.sqrt(len(self.at(self.best)))

    @property
    def by_steps(self) -> list[tuple[int, float]]:
        """Mean bits per parameter at the best size, by number of steps."""
        if self.best is None or not self.shorter:
            return []
        points = [*self.shorter, *self.at(self.best)]
        return [
            (steps, fmean(point.held for point in points if point.steps == steps) / self.parameters.total)
            for steps in sorted({point.steps for point in points})
        ]

    @property
    def gain_of_twice(self) -> float:
        """Bits per parameter gained by the last doubling of the steps."""
        by_steps = self.by_steps
        return by_steps[-1][1] - by_steps[-2][1] if len(by_steps) > 1 else math.nan

    @property
    def with_more_steps(self) -> float:
        """Extrapolated bits per parameter after eight times the steps.

        Each doubling is assumed to gain the same fraction of the gain before it, at most all of it.
        """
        added = [after - before for (_, before), (_, after) in pairwise(self.by_steps)]
        if self.bits_per_parameter is None or not added:
            return math.nan
        gain = max(0.0, added[-1])
        share = min(1.0, gain / added[-2]) if len(added) > 1 and added[-2] > 0 else 1.0
        return self.bits_per_parameter + gain * sum(share**doubling for doubling in range(1, DOUBLINGS + 1))

    @property
    def interval(self) -> ReadingInterval:
        """The interval of the estimate, for seeds and training length.

        It reaches from the lower end of the interval over seeds to its upper end after eight times the steps, if each
        further doubling gains no more than the last.
        """
        held, gain = self.bits_per_parameter, self.gain_of_twice
        if held is None:
            return ReadingInterval(math.nan, math.nan)
        more = DOUBLINGS * max(0.0, gain) if math.isfinite(gain) else 0.0
        return ReadingInterval(held - self.half_width, held + self.half_width + more)

    @property
    def settled(self) -> bool:
        """True if the last doubling of the steps changed the estimate by less than the interval over seeds."""
        return abs(self.gain_of_twice) <= self.half_width

    @property
    def bracketed(self) -> bool:
        """True if the best load has a worse neighbour on each side.

        For facts: every seed has full recall at some size, and not at a larger one.
        """
        if self.best is None:
            return False
        return self.best < self.sizes[-1] and (self.protocol == "facts" or self.sizes[0] < self.best)

    @property
    def plateau_in_sight(self) -> bool:
        """True if a larger load would not raise the estimate: the best load has a worse neighbour on each side, or the
        last increase gained less than the spread between seeds."""
        if self.bracketed or self.protocol == "facts" or len(self.sizes) < 2:
            return self.bracketed
        *_, before, largest = self.sizes
        return self.best == largest and self.mean(largest) - self.mean(before) <= self.half_width

    @property
    def rounded(self) -> dict[str, float]:
        """Mean bits per parameter held after rounding the weights, at the best size."""
        points = [] if self.best is None else [point for point in self.at(self.best) if not point.diverged]
        if not points:
            return {}
        # Points of earlier releases were rounded to other formats.
        known = [name for name in ROUNDINGS if all(name in point.rounded for point in points)]
        return {name: fmean(point.rounded[name] for point in points) / self.parameters.total for name in known}

    @property
    def seconds(self) -> float:
        """CPU time of all points, without the search for the learning rate."""
        return sum(point.seconds for point in (*self.points, *self.shorter))

    @property
    def check_holds(self) -> bool:
        return all(point.fresh_is_nothing for point in self.points)

    def chart(self) -> XYChart:
        """Bits held against bits offered: a dot per seed, the mean at each size, the plateau with its interval."""
        total = self.parameters.total
        offered = [self.at(size)[0].offered / total for size in self.sizes]
        held = [Mark(point.offered / total, point.held / total) for point in self.points]
        right = 1.08 * max(offered)
        means = [Mark(x, self.mean(size)) for x, size in zip(offered, self.sizes, strict=True)]
        series = [
            ChartSeries("offered", [Mark(0, 0), Mark(right, right)], "line", "grey"),
            ChartSeries("held, one seed", held, "points", "blue", faint=True),
            ChartSeries("mean", means, "line", "blue"),
        ]
        if fewer := self.by_steps[:-1]:
            at = self.at(self.best)[0].offered / total if self.best else 0
            name = f"after {', '.join(f'{length:,}' for length, _ in fewer)} steps"
            series.append(ChartSeries(name, [Mark(at, value) for _, value in fewer], "points", "orange", shape="down"))
        value = self.bits_per_parameter
        if value is not None:
            series.append(level("bits per parameter", value, 0, right, "line", "vermilion"))
            low, high = self.interval
            if math.isfinite(low):
                edges = [Mark(x, value, interval=(low, high)) for x in (0, right)]
                series.append(ChartSeries("interval, to 8 times the steps", edges, "band", "vermilion"))
        return XYChart(
            f"{self.name}: {total:,} parameters, {self.points[0].steps:,} steps",
            "bits offered per parameter",
            "bits held per parameter",
            [*series, *published_levels(0, right)],
            y_range=(0.0, 1.1 * max(MORRIS_2025, *(mark.y for mark in held))),
        )

    def summary(self) -> dict[str, Any]:
        """Everything as one JSON document."""
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
            "effective_parameters": self.effective,
            "bits_per_effective_parameter": self.per_effective_parameter,
            "by_steps": [list(pair) for pair in self.by_steps],
            "gain_of_twice": self.gain_of_twice,
            "interval": list(self.interval),
            "with_more_steps": self.with_more_steps,
            "settled": self.settled,
            "plateau_in_sight": self.plateau_in_sight,
            "rounded": self.rounded,
            "largest_fresh_gain": max(point.fresh_gain for point in self.points),
            "check_holds": self.check_holds,
            "points": [point.summary() for point in self.points],
            "trained_now": self.trained,
        }
