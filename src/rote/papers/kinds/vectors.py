"""Figures about vector tasks: what is trained, whether its capacity is searched for or its accuracy asked, and rules.

Notation: `heads` H, `context` n, `head_dim` k, `dim` d, `examples` T.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from rote.models.query_attention import QueryAttention
from rote.papers.claims import Claim, Rule

SATURATED = 0.99
"""Share of its attention from which a head that puts it on one token is saturated."""

Size = Literal["heads", "context", "head_dim"]
SIZE_LABELS: dict[Size, str] = {"heads": "heads H", "context": "context length n", "head_dim": "head dimension k"}


@dataclass(frozen=True)
class VectorSetting:
    """A model and the kind of examples it is to recall."""

    heads: int
    context: int
    head_dim: int = 64
    dim: int = 64
    shared: bool = True
    """One context for all examples, or a fresh one each."""
    classes: int | None = 100
    """Number of classes. None: one real target."""

    @property
    def spec(self) -> QueryAttention:
        return QueryAttention.experiment(self.context, self.classes or 1, self.heads, self.head_dim, self.dim)

    @property
    def guaranteed(self) -> int:
        """H(min(n, k) - 1) + 1: Theorem 1."""
        return self.heads * (min(self.context, self.head_dim) - 1) + 1

    @property
    def rank(self) -> int:
        """Outputs at will that fixed attention can give: H(n - 1) + 1 in one context, Hd with fresh ones."""
        return self.heads * (self.context - 1) + 1 if self.shared else self.heads * self.dim

    @property
    def in_words(self) -> str:
        return f"{'shared' if self.shared else 'fresh'} context, {'labels' if self.classes else 'targets'}"


@dataclass(frozen=True)
class Threshold:
    """When a model counts as having recalled its examples."""

    accuracy: float | None = None
    """Labels recalled, at least this share."""
    mean_square: float | None = None
    """Mean squared error of a target, less than this."""

    @property
    def in_words(self) -> str:
        if self.accuracy is None:
            return f"error < {self.mean_square:g}"
        return "all recalled" if self.accuracy == 1 else f"accuracy {self.accuracy:g}"


AT_99, AT_ALL = Threshold(accuracy=0.99), Threshold(accuracy=1.0)
AT_ERROR = Threshold(mean_square=1e-4)
"""Targets are uniform in [0, 1): a variance of 1/12, so that a thousandth of it is left."""


@dataclass(frozen=True)
class QuickSearch:
    """What `quick` keeps of a search for capacities: values of x, and a series per kind of setting."""

    x: tuple[int, ...]
    fresh: bool = True
    """Whether fresh contexts are kept."""


@dataclass(frozen=True)
class CapacityFigure:
    """The most examples recalled against one size, found by bisection."""

    id: str
    title: str
    size: Size
    settings: tuple[VectorSetting, ...]
    claims: tuple[Claim, ...]
    quick: QuickSearch
    repeats: int = 2
    note: str = ""
    trains = True

    @property
    def x_label(self) -> str:
        return SIZE_LABELS[self.size]

    y_label = "examples recalled"


@dataclass(frozen=True)
class GridFigure:
    """Accuracy (or error) at given numbers of examples against one size, as published; `quick` leaves it out."""

    id: str
    title: str
    size: Size
    cells: tuple[tuple[VectorSetting, int], ...]
    """Settings with numbers of examples."""
    claims: tuple[Claim, ...]
    repeats: int = 6
    fewest_steps: int = 0
    """Of protocol `paper`, where the paper trained longer than elsewhere."""
    note: str = ""
    trains = True

    @property
    def x_label(self) -> str:
        return SIZE_LABELS[self.size]

    @property
    def y_label(self) -> str:
        return "accuracy" if self.cells[0][0].classes else "mean squared error"


@dataclass(frozen=True)
class SaturationFigure:
    """How many heads end up with nearly all attention on one token, against training length."""

    id: str
    title: str
    cells: tuple[tuple[VectorSetting, int], ...]
    claims: tuple[Claim, ...]
    lengths: tuple[int, ...]
    """Training lengths in steps, early stopping left out."""
    quick_lengths: tuple[int, ...]
    repeats: int = 2
    note: str = ""
    trains = True

    x_label = "training steps"
    y_label = "share of saturated heads"


VectorFigure = CapacityFigure | GridFigure | SaturationFigure


class IncreasesWithSize(Rule):
    words: ClassVar[str] = (
        "the mean rises from each x to the next, in every series; refuted where one falls by more than 5 %"
    )


class DecreasesWithSize(Rule):
    words: ClassVar[str] = (
        "the mean falls from each x to the next, in every series; refuted where one rises by more than 5 %"
    )


@dataclass(frozen=True)
class NothingBeyond(Rule):
    words: ClassVar[str] = (
        "the largest x recalls within {within:.0%} of what x = {x} does, in every series; refuted "
        "where all seeds of one lie beyond all of the other by more"
    )

    x: int
    within: float = 0.1


class MeetsPromise(Rule):
    words: ClassVar[str] = "every seed recalls H(min(n, k) - 1) + 1 examples or more, at every x"


class NoMoreThanRank(Rule):
    words: ClassVar[str] = "no seed recalls more than H(n - 1) + 1 examples in one shared context (Hd in fresh ones)"


@dataclass(frozen=True)
class HeadsSplitExamples(Rule):
    words: ClassVar[str] = (
        "the mean overlap of pairs of heads is below {below:g} of what independent heads would show; refuted "
        "when its interval over pairs lies above"
    )

    below: float = 0.9


class SaturatesWithTraining(Rule):
    words: ClassVar[str] = (
        "the mean share of saturated (head, example) pairs rises from each training length to the next"
    )
