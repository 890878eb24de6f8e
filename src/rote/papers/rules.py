"""Rules by which claims are decided, as data: what counts as holding, with its numbers.

Each rule says itself in words; `rote.experiments.lookups.verdicts` applies it to what was measured.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Rule:
    """What counts as holding."""

    @property
    def in_words(self) -> str:
        raise NotImplementedError


@dataclass(frozen=True)
class GrowsAsPower(Rule):
    """A quantity grows like x^e with e between `low` and `high`, in one series or in most of them."""

    low: float
    high: float
    series: str | None = None

    @property
    def in_words(self) -> str:
        return (
            f"a + b x^e has e in [{self.low:g}, {self.high:g}] in three quarters of the series; refuted when the "
            "95 % interval of e lies outside in half of them"
        )


@dataclass(frozen=True)
class MeetsTheorem1(Rule):
    """Trained models hold at least what Theorem 1 of Dana et al. 2025 promises."""

    @property
    def in_words(self) -> str:
        return "the mean of every cell is at or above phi(Hk + d), where the theorem applies"


@dataclass(frozen=True)
class MatchesReleased(Rule):
    """The run agrees with the released values: two-sided under the paper's protocol, from below under others."""

    mean_within: float = 0.02
    each_within: float = 0.04
    below: float = 0.005

    @property
    def in_words(self) -> str:
        return (
            f"protocol paper: mean |difference| <= {self.mean_within:g} and each <= {self.each_within:g}; other "
            f"protocols, which train longer or better: no cell more than {self.below:g} below"
        )


@dataclass(frozen=True)
class StraightUpTo(Rule):
    """A series is linear in x up to a point."""

    x: float
    series: str
    within: float = 0.05

    @property
    def in_words(self) -> str:
        return f"means are within {self.within:.0%} of their rise (root mean square) of a line up to x = {self.x:g}"


@dataclass(frozen=True)
class FlatBeyond(Rule):
    """A series grows up to a point and hardly beyond it."""

    x: float
    series: str
    full: float = 0.95
    """Accuracy from which a memory is full and says nothing about growth."""

    @property
    def in_words(self) -> str:
        return (
            f"the slope beyond x = {self.x:g} is less than a third of the slope up to it; full memories after the "
            "first are left out"
        )


@dataclass(frozen=True)
class SlopeAbovePromise(Rule):
    """Each head adds more than the k associations that Theorem 1 of Dana et al. 2025 promises."""

    @property
    def in_words(self) -> str:
        return "the slope in associations, T slope / (1 - 1/N), has an interval above k in every series"


@dataclass(frozen=True)
class SlopePerHeadDim(Rule):
    """Associations that each unit of H k adds lie between two numbers."""

    low: float
    high: float

    @property
    def in_words(self) -> str:
        return (
            f"the slope in associations over k lies in [{self.low:g}, {self.high:g}]; refuted when its interval lies "
            "outside"
        )


@dataclass(frozen=True)
class SameAtEqualSize(Rule):
    """Attention and MLP reach the same accuracy at the same number of parameters."""

    within: float = 0.02
    full: float = 0.95

    @property
    def in_words(self) -> str:
        return f"mean |gap| between cells of equal size is at most {self.within:g}, full cells aside"


@dataclass(frozen=True)
class MlpBetterAtEqualSize(Rule):
    """The MLP reaches more at the same number of parameters."""

    share: float = 0.75
    full: float = 0.95

    @property
    def in_words(self) -> str:
        return "the MLP is higher in three quarters of the pairs; refuted when lower in three quarters"
