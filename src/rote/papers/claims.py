"""What a published figure is, what it claims, and the rule that every kind of figure has: growth as a power."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, Protocol, runtime_checkable

Owner = Literal["paper", "review", "rote"]
"""Who makes a claim: a sentence of the paper, a reviewer of it, or rote, which asks more than was said."""
OWNERS: tuple[Owner, ...] = ("paper", "review", "rote")

Outcome = Literal["supported", "not supported", "undecided", "not comparable", "not tested"]
OUTCOMES: dict[Outcome, str] = {
    "supported": "The rule is met, by the 95 % interval wherever it has one.",
    "not supported": "The rule is broken, by the 95 % interval wherever it has one.",
    "undecided": "What was measured settles neither.",
    "not comparable": "The claim is about other data than those it was run on.",
    "not tested": "The rule cannot fail here, so that meeting it shows nothing.",
}

AGREE, AGAINST = 0.75, 0.5
"""Shares of a figure's series that support a claim about most of them, and that refute it."""

Side = str | float
"""A number of each cell by its name, or a number."""


def side_in_words(side: Side) -> str:
    return side.replace("_", " ") if isinstance(side, str) else f"{side:g}"


@dataclass(frozen=True)
class Rule:
    """What counts as holding, with its numbers. The findings of a figure apply it to what was measured.

    A rule says itself in `words`, with its fields in braces, or has an `in_words` of its own.
    """

    words: ClassVar[str]

    @property
    def in_words(self) -> str:
        return self.words.format(**vars(self))


@dataclass(frozen=True)
class Quotation:
    """The printed sentence that makes a claim, and where a reader finds it."""

    words: str
    """Verbatim, formulas in the LaTeX of the text that was read."""
    place: str
    text: str
    """Which text was read (`rote.papers.texts`)."""
    owner: Owner = "paper"

    @property
    def in_words(self) -> str:
        return f'"{self.words}" ({self.place}; {self.text})'


@dataclass(frozen=True)
class Claim:
    """Something that is claimed, who claims it, and the rule that decides it."""

    id: str
    statement: str
    rule: Rule
    quotation: Quotation | None = None
    """The sentence that makes the claim. Default: none does, and rote asks."""
    data: str = ""
    """Data that the claim is about, if no others can judge it. Default: any that the figure is run on."""
    cannot_fail: str = ""
    """Why the rule would be met whether or not the claim is true. Default: it can fail."""

    @property
    def owner(self) -> Owner:
        return "rote" if self.quotation is None else self.quotation.owner


@runtime_checkable
class PublishedFigure(Protocol):
    """A figure or statement of a paper, of whichever kind: its grid is the kind's own."""

    @property
    def id(self) -> str: ...

    @property
    def title(self) -> str: ...

    @property
    def claims(self) -> tuple[Claim, ...]: ...

    @property
    def note(self) -> str: ...

    @property
    def trains(self) -> bool:
        """Whether models are trained; a statement is built or evaluated."""
        ...


@dataclass(frozen=True)
class GrowsAs(Rule):
    """What is measured grows as x^e, with the 95 % interval of e between `low` and `high`.

    About most series unless `every`: three quarters of them must agree and half of them refute, rather than all and
    one.
    """

    low: float
    high: float
    of: str | None = None
    """The number of each cell that grows. Default: what the figure draws."""
    series: str | None = None
    """The one series that the claim is about. Default: all."""
    every: bool = False
    offset: bool = True
    """Whether a + b x^e is fitted rather than b x^e."""
    note: str = ""
    """What else the kind of figure does with its points, in words."""

    def within(self, exponent: float) -> bool:
        return self.low <= exponent <= self.high

    def outside(self, interval: tuple[float, float]) -> bool:
        """Whether all of an interval lies beyond the limits."""
        return interval[1] < self.low or interval[0] > self.high

    def holds(self, agreeing: int, series: int) -> bool:
        """Whether so many of the series are enough to support the claim."""
        return agreeing >= (1.0 if self.every else AGREE) * series

    def refuted(self, against: int, series: int) -> bool:
        """Whether so many of the series are enough to refute it."""
        return against >= 1 if self.every else against >= AGAINST * series

    @property
    def in_words(self) -> str:
        form = f"{'a + ' if self.offset else ''}b x^e" + (f" fitted to {side_in_words(self.of)}" if self.of else "")
        supported, refuted = ("every series", "one") if self.every else ("three quarters of the series", "half of them")
        return (
            f"of {form}, the 95 % interval of e lies in [{self.low:g}, {self.high:g}] in {supported}; refuted if it "
            f"lies outside in {refuted}{f'. {self.note}' if self.note else ''}"
        )
