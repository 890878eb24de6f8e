"""Rules by which claims about vector tasks are decided, as data; `rote.experiments.vectors.verdicts` applies them."""

from __future__ import annotations

from dataclasses import dataclass

from rote.papers.rules import Rule


@dataclass(frozen=True)
class PowerOfSize(Rule):
    """What is measured grows like a + b x^e with e between `low` and `high`, in most series."""

    low: float
    high: float

    @property
    def in_words(self) -> str:
        return (
            f"a + b x^e has e in [{self.low:g}, {self.high:g}] in three quarters of the series with four points; "
            "refuted when the 95 % interval of e lies outside in half of them"
        )


@dataclass(frozen=True)
class IncreasesWithSize(Rule):
    """What is measured is larger at every next x."""

    @property
    def in_words(self) -> str:
        return "the mean rises from each x to the next, in every series; refuted where one falls by more than 5 %"


@dataclass(frozen=True)
class DecreasesWithSize(Rule):
    """What is measured is smaller at every next x."""

    @property
    def in_words(self) -> str:
        return "the mean falls from each x to the next, in every series; refuted where one rises by more than 5 %"


@dataclass(frozen=True)
class NothingBeyond(Rule):
    """What is measured beyond a value of x is what it is there."""

    x: int
    within: float = 0.1

    @property
    def in_words(self) -> str:
        return (
            f"the largest x recalls within {self.within:.0%} of what x = {self.x} does, in every series; refuted "
            "where all seeds of one lie beyond all of the other by more"
        )


@dataclass(frozen=True)
class MeetsPromise(Rule):
    """Training recalls at least what Theorem 1 promises."""

    @property
    def in_words(self) -> str:
        return "every seed recalls H(min(n, k) - 1) + 1 examples or more, at every x"


@dataclass(frozen=True)
class NoMoreThanRank(Rule):
    """Training recalls no more than fixed attention could: the bound is tight for it too."""

    @property
    def in_words(self) -> str:
        return "no seed recalls more than H(n - 1) + 1 examples in one shared context (Hd in fresh ones)"


@dataclass(frozen=True)
class HeadsSplitExamples(Rule):
    """Heads are saturated on the same examples less often than independent heads would be."""

    below: float = 0.9

    @property
    def in_words(self) -> str:
        return (
            f"the mean overlap of pairs of heads is below {self.below:g} of what independent heads would show; refuted "
            "when its interval over pairs lies above"
        )


@dataclass(frozen=True)
class SaturatesWithTraining(Rule):
    """The longer the training, the more heads are saturated."""

    @property
    def in_words(self) -> str:
        return "the mean share of saturated (head, example) pairs rises from each training length to the next"
