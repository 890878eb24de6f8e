"""Where values lie along an axis, and at which of them to put a tick."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from rote.display import number

FEW_TICKS = 6
"""Ticks of an axis, about."""


@dataclass(frozen=True)
class Axis:
    """From values to places between 0 and 1."""

    low: float
    high: float
    log: bool = False

    @classmethod
    def over(cls, values: Sequence[float], log: bool = False, from_zero: bool = False) -> Axis:
        """An axis that holds these values, with a little room at both ends."""
        finite = [value for value in values if math.isfinite(value) and (value > 0 or not log)]
        low, high = (min(finite), max(finite)) if finite else (1.0, 10.0)
        if log:
            room = max(1.12, (high / low) ** 0.04)
            return cls(low / room, high * room, True)
        low, high = (min(0.0, low), max(0.0, high)) if from_zero else (low, high)
        if low == high == 0 and from_zero:
            return cls(0.0, 1.0)
        room = 0.04 * (high - low) or 0.5
        return cls(low if from_zero and low == 0 else low - room, high if from_zero and high == 0 else high + room)

    def place(self, value: float) -> float:
        """0 at the low end, 1 at the high end; what lies outside is put at the end it is beyond."""
        if self.log:
            share = math.log(max(value, self.low) / self.low) / math.log(self.high / self.low)
        else:
            share = (value - self.low) / (self.high - self.low)
        return min(1.0, max(0.0, share))

    def ticks(self) -> list[float]:
        """Round values along the axis."""
        if self.log:
            return _decades(self.low, self.high)
        step = _round_step((self.high - self.low) / FEW_TICKS)
        first = math.ceil(self.low / step - 1e-9)
        count = math.floor(self.high / step + 1e-9) - first + 1
        return [round((first + index) * step, 12) for index in range(count)]


def spaced(axis: Axis, ticks: Sequence[float], letters: float) -> list[float]:
    """Those of the ticks whose labels do not touch, along an axis with room for so many letters; the last stays."""
    kept: list[float] = []
    for tick in sorted(ticks, reverse=True):
        room = (len(number(float(tick))) + 1.5) / letters
        if not kept or axis.place(kept[-1]) - axis.place(tick) >= room:
            kept.append(tick)
    return kept[::-1]


def _round_step(rough: float) -> float:
    """The smallest of 1, 2, 2.5, 5 times a power of ten that is not below `rough`."""
    power = 10 ** math.floor(math.log10(rough))
    return next(power * times for times in (1, 2, 2.5, 5, 10) if power * times >= rough * 0.999)


def _decades(low: float, high: float) -> list[float]:
    first, last = math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9)
    if last - first < 2:  # too few powers of ten: add what lies between
        coarse, fine = (
            [
                value
                for power in range(first - 1, last + 1)
                for times in shares
                if low <= (value := times * 10.0**power) <= high
            ]
            for shares in ((1, 2, 5), (1, 1.5, 2, 3, 4, 6, 8))
        )
        return coarse if len(coarse) > 3 else fine
    every = max(1, math.ceil((last - first + 1) / FEW_TICKS))
    return [10.0**power for power in range(first, last + 1, every)]
