"""The one way in which growth as a power is judged: an exponent per series, and what they say of a rule."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from rote.errors import InputError
from rote.measure.laws import LawFit, Points, fit_law
from rote.papers.claims import GrowsAs, Outcome


@dataclass(frozen=True)
class Exponent:
    fitted: float | None
    interval: tuple[float, float] | None
    """95 %; None if there are too few points."""
    at_least: float | None = None
    """What two points alone imply; refutes a rule where there is no interval."""

    @classmethod
    def of(cls, fit: LawFit, parameter: str = "exponent") -> Exponent:
        return cls(fit.values[parameter], fit.hull(parameter))

    @property
    def in_words(self) -> str:
        if self.fitted is None or self.interval is None:
            return "unknown: too few points"
        return f"{self.fitted:.2f} ({self.interval[0]:.2f} to {self.interval[1]:.2f})"

    def agrees(self, rule: GrowsAs) -> bool:
        return self.interval is not None and all(map(rule.within, self.interval))

    def refutes(self, rule: GrowsAs) -> bool:
        if self.agrees(rule):
            return False
        if self.interval is not None:
            return rule.outside(self.interval)
        return self.at_least is not None and self.at_least > rule.high


def power_outcome(rule: GrowsAs, exponents: Mapping[str, Exponent]) -> Outcome:
    """What the exponents of a figure's series say of a claimed power."""
    agreeing, against = agreement(rule, exponents)
    if rule.refuted(len(against), len(exponents)):
        return "not supported"
    return "supported" if rule.holds(len(agreeing), len(exponents)) else "undecided"


def agreement(rule: GrowsAs, exponents: Mapping[str, Exponent]) -> tuple[list[str], list[str]]:
    """The series whose exponents agree with a rule, and those that refute it."""
    agreeing = [name for name, exponent in exponents.items() if exponent.agrees(rule)]
    return agreeing, [name for name, exponent in exponents.items() if exponent.refutes(rule)]


def log_log_exponent(values: Mapping[float, list[float]], largest: float = math.inf) -> Exponent | None:
    """The exponent of b x^e, as the slope between logarithms; None if there are too few points.

    Values from `largest` on only say that they are at least so large.
    """
    logs = {math.log(x): [math.log(value) for value in seeds] for x, seeds in values.items() if seeds}
    try:
        return Exponent.of(fit_law(Points.of(logs), "linear", saturation=math.log(largest)), "b")
    except InputError:
        return None
