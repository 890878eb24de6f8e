"""What the meter says of a subject: the largest load held, its interval, and what more steps would add."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean
from typing import Any, Literal, NamedTuple

from rote.lm.capacity.point import Point
from rote.lm.capacity.rounding import ROUNDINGS
from rote.lm.capacity.strings import StringShape
from rote.lm.language_model import ParameterCount

MeterProtocol = Literal["strings", "facts"]


DOUBLINGS = 3
"""Doublings of the steps that the interval reaches beyond those that were tried: eight times the steps."""


class ReadingInterval(NamedTuple):
    """Bits per parameter from and to; not numbers where one seed tells nothing of others."""

    low: float
    high: float


@dataclass(frozen=True)
class MeterReading:
    """What the meter says of a subject."""

    name: str
    protocol: MeterProtocol
    shape: StringShape
    parameters: ParameterCount
    points: tuple[Point, ...]
    """The points of full training, all loads and seeds."""
    shorter: tuple[Point, ...]
    """Points at the best load after half, a quarter and an eighth of the steps, all seeds."""
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
        """Standard deviation between seeds in bits per parameter, pooled over sizes and lengths of training; its
        degrees of freedom.

        Where every seed recalls everything all hold the same, which says nothing of how they differ elsewhere.
        """
        groups: dict[tuple[int, int], list[Point]] = {}
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
        """Half of the 95 % interval of the mean between seeds, by Student's t; not a number for one seed."""
        from scipy.stats import t

        deviation, freedom = self.spread
        if not freedom or self.best is None:
            return math.nan
        return float(t.ppf(0.975, freedom)) * deviation / math.sqrt(len(self.at(self.best)))

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
    def with_more_steps(self) -> float:
        """Bits per parameter that eight times the steps would hold, if each doubling goes on adding the same share of
        the one before, and never more than it."""
        added = [after - before for (_, before), (_, after) in pairwise(self.by_steps)]
        if self.bits_per_parameter is None or not added:
            return math.nan
        gain = max(0.0, added[-1])
        share = min(1.0, gain / added[-2]) if len(added) > 1 and added[-2] > 0 else 1.0
        return self.bits_per_parameter + gain * sum(share**doubling for doubling in range(1, DOUBLINGS + 1))

    @property
    def interval(self) -> ReadingInterval:
        """Where the reading lies, seeds and training length considered: from the lower end of the seeds' interval to
        its upper end after eight times the steps, each further doubling taken to add no more than the last did."""
        held, gain = self.bits_per_parameter, self.gain_of_twice
        if held is None:
            return ReadingInterval(math.nan, math.nan)
        more = DOUBLINGS * max(0.0, gain) if math.isfinite(gain) else 0.0
        return ReadingInterval(held - self.half_width, held + self.half_width + more)

    @property
    def settled(self) -> bool:
        """Whether the last doubling of the steps changed what is held by less than seeds do."""
        return abs(self.gain_of_twice) <= self.half_width

    @property
    def bracketed(self) -> bool:
        """Whether the plateau is in sight: less is held both at a smaller and at a larger size.

        Of facts, that every seed recalls all of some size, and not of a larger one.
        """
        if self.best is None:
            return False
        return self.best < self.sizes[-1] and (self.protocol == "facts" or self.sizes[0] < self.best)

    @property
    def plateau_in_sight(self) -> bool:
        """Whether more strings would not be held: less is held on both sides, or the largest size that was tried adds
        no more to the one before than seeds differ."""
        if self.bracketed or self.protocol == "facts" or len(self.sizes) < 2:
            return self.bracketed
        *_, before, largest = self.sizes
        return self.best == largest and self.mean(largest) - self.mean(before) <= self.half_width

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
