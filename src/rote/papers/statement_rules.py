"""Rules by which claims about statements are decided: what is built in every cell stands beside what is stated."""

from __future__ import annotations

from dataclasses import dataclass

from rote.papers.rules import Rule

Side = str | float
"""A number of each cell by its name, or a number."""


def side_in_words(side: Side) -> str:
    return side.replace("_", " ") if isinstance(side, str) else f"{side:g}"


@dataclass(frozen=True)
class AtMost(Rule):
    """One number is at most another in every trial (a cell and a seed) that has both."""

    smaller: Side
    larger: Side
    within: float = 1e-9
    """Rounding, relative to the larger of the two and to one."""

    @property
    def in_words(self) -> str:
        return (
            f"{side_in_words(self.smaller)} <= {side_in_words(self.larger)} in every trial that has both, "
            f"rounding ({self.within:g}) aside"
        )


@dataclass(frozen=True)
class GrowsAs(Rule):
    """A number grows as x^e, e within limits, in every series."""

    value: str
    low: float
    high: float

    @property
    def in_words(self) -> str:
        return (
            f"b x^e fitted to {side_in_words(self.value)} has e in [{self.low:g}, {self.high:g}] in every series; "
            "refuted when the 95 % interval lies outside in one"
        )


@dataclass(frozen=True)
class StaysInProportion(Rule):
    """A number over another does not grow as x shrinks."""

    value: str
    to: str
    factor: float = 2.0

    @property
    def in_words(self) -> str:
        return (
            f"{side_in_words(self.value)} / {side_in_words(self.to)} at the smallest x is at most {self.factor:g} "
            "times that at the largest, in every series; refuted when it is more in one"
        )
