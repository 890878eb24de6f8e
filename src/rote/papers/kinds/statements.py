"""Statements of a paper (theorems, propositions, remarks) as something to run: a grid of settings, claims and rules.

Nothing is trained: each cell builds or evaluates what a statement is about and gives named numbers, a bound among them,
and a claim compares two of them in every cell.
"""

from __future__ import annotations

from dataclasses import dataclass

from rote.papers.claims import Claim, GrowsAs, Rule, Side, side_in_words
from rote.papers.kinds.statement_settings import Setting


@dataclass(frozen=True)
class StatementCell:
    """One point of a grid: what is evaluated, and where it is drawn."""

    series: str
    x: float
    setting: Setting


@dataclass(frozen=True)
class Line:
    """A number of every cell that the figure draws against x."""

    value: str
    label: str
    bound: bool = False
    """Whether it is what was stated rather than what was measured."""


@dataclass(frozen=True)
class Statement:
    id: str
    """The passage's id and `-checked`, so that it is no result's."""
    title: str
    passage: str
    x: str
    y: str
    cells: tuple[StatementCell, ...]
    lines: tuple[Line, ...]
    claims: tuple[Claim, ...]
    quick: tuple[float, ...]
    """Values of x that `quick` keeps."""
    seconds: float
    """Processor time of the whole grid and its repeats, as measured."""
    quick_seconds: float
    repeats: int = 2
    first_seed: int = 0
    """A study from seed 100 on is reported on seeds that chose none of its claims (docs/open_questions.md)."""
    run: str = ""
    """Names the run where it is another statement's: cells that both have are evaluated once."""
    log_x: bool = False
    log_y: bool = True
    note: str = ""
    trains = False


@dataclass(frozen=True)
class View:
    """One panel for each series of a study, or one for all of them."""

    y: str
    lines: tuple[Line, ...]


@dataclass(frozen=True)
class Headline:
    """A conclusion, which titles the drawing if these claims are supported and those refuted."""

    conclusion: str
    supported: tuple[str, ...] = ()
    refuted: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Study(Statement):
    """An open question as something to run: models are built and trained, and several numbers are drawn."""

    views: tuple[View, ...]
    headline: Headline
    together: bool = False
    """Whether the series are lines of one panel. Default: each has panels of its own."""
    trains = True


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


def number_grows_as(of: str, low: float, high: float) -> GrowsAs:
    """A number of every cell grows as x^e."""
    return GrowsAs(low, high, of=of, every=True, offset=False)


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


@dataclass(frozen=True)
class HigherBeyondFirst(Rule):
    """In one series, a number is higher at some larger x than at the smallest x, for all seeds."""

    of: str
    series: str
    by: float = 0.05

    @property
    def in_words(self) -> str:
        return (
            f"{side_in_words(self.of)} at some larger x, its lowest seed, is more than {self.by:.0%} above the highest "
            "seed at the smallest x; refuted if at every larger x the highest seed is not so far above the lowest there"
        )
