"""Figures about look-up tables: grids of models, how a paper trained them, what it released, and its claims' rules.

An experiment is a grid of cells and how the paper trained them; a figure is a view of an experiment with claims to
check. Two figures may view one experiment: its trials are run once.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, Literal

from rote.models.attention_only import Transformer
from rote.papers.claims import Claim, Rule

FULL = 0.95
"""Accuracy from which a memory is full and says nothing more about growth."""

Weighting = Literal["sampled", "uniform"]
"""`sampled`: each pair counts as often as it was drawn for training, as published. `uniform`: all pairs alike."""

WEIGHTINGS: tuple[Weighting, ...] = ("sampled", "uniform")


@dataclass(frozen=True)
class Training:
    """A paper's own training of one cell: data drawn once, seen in every epoch."""

    batches: int = 64
    batch: int = 256
    epochs: int = 64
    peak: float = 1e-2
    final: float = 5e-4

    @property
    def samples(self) -> int:
        return self.batches * self.batch


@dataclass(frozen=True)
class Shortened:
    """What the protocol `fast` takes for a cell, where the protocol's own choice would not do."""

    steps: int
    peak: float
    focus: float


@dataclass(frozen=True)
class Cell:
    series: str
    x: float
    spec: Transformer
    training: Training = Training()
    published: float | None = None
    """Accuracy as released, in the sampled weighting."""
    fast: Shortened | None = None
    """Default: the protocol's own choice."""


def positions_of(cells: Iterable[Cell]) -> str:
    """Where positions enter the models of these cells, as one word or several."""
    return ", ".join(sorted({cell.spec.positions for cell in cells}))


@dataclass(frozen=True)
class Quick:
    """What a quick run keeps of a grid."""

    series: tuple[str, ...] | None = None
    """Names. Default: all."""
    every: int = 1
    """Every so many cells of a series."""
    repeats: int = 2


@dataclass(frozen=True)
class Experiment:
    """A grid of cells. Models of different variants are different series."""

    id: str
    """Names the run: experiments of one id keep their trials together, so that those they share are run once."""
    cells: tuple[Cell, ...]
    repeats: int
    quick: Quick
    note: str = ""
    released_repeats: int = 5
    """Models behind each released mean."""

    @property
    def positions(self) -> str:
        return positions_of(self.cells)


@dataclass(frozen=True)
class LookupFigure:
    id: str
    title: str
    experiment: Experiment
    x: str
    """Label of the x axis."""
    laws: tuple[str, ...]
    """Forms compared in every series; the first is the one the paper draws."""
    claims: tuple[Claim, ...]
    y: str = "accuracy"
    saturation: float | None = FULL
    """Accuracy from which a point says only that the memory is full; absent where y has no ceiling."""
    derived: Literal["slopes"] | None = None
    """`slopes`: points are the slopes of the experiment's series; absent when they are drawn as they are."""

    @property
    def note(self) -> str:
        return self.experiment.note

    trains = True


class MeetsTheorem1(Rule):
    words: ClassVar[str] = "the mean of every cell is at or above phi(Hk + d), where the theorem applies"


@dataclass(frozen=True)
class MatchesReleased(Rule):
    words: ClassVar[str] = (
        "the 95 % interval of the mean difference lies within {mean_within:g} of zero and every cell's simultaneous "
        "one reaches within {each_within:g}; refuted if either lies beyond. Released means are taken to scatter as the "
        "seeds here do"
    )

    mean_within: float = 0.02
    each_within: float = 0.04


@dataclass(frozen=True)
class StraightUpTo(Rule):
    words: ClassVar[str] = "means are within {within:.0%} of their rise (root mean square) of a line up to x = {x:g}"

    x: float
    series: str
    within: float = 0.05


@dataclass(frozen=True)
class SlowerBeyond(Rule):
    words: ClassVar[str] = (
        "the 95 % interval of the slope beyond x = {x:g} over the slope up to it lies below {ratio:.2g}; full memories "
        "after the first are left out"
    )

    x: float
    series: str
    ratio: float = 1.0
    """The slope beyond over the slope up to it is less than this."""
    full: float = FULL


class SlopeAbovePromise(Rule):
    words: ClassVar[str] = "the slope in associations, T slope / (1 - 1/N), has an interval above k in every series"


@dataclass(frozen=True)
class SlopePerHeadDim(Rule):
    words: ClassVar[str] = (
        "the 95 % interval of the slope in associations over k lies in [{low:g}, {high:g}]; refuted if it lies outside"
    )

    low: float
    high: float


@dataclass(frozen=True)
class SameAtEqualSize(Rule):
    words: ClassVar[str] = (
        "the 95 % interval of the mean |gap| between cells of equal size lies below {within:g}, full cells aside; "
        "refuted if it lies above"
    )

    within: float = 0.02
    full: float = FULL


@dataclass(frozen=True)
class MlpBetterAtEqualSize(Rule):
    words: ClassVar[str] = "the MLP is higher in three quarters of the pairs; refuted when lower in three quarters"

    share: float = 0.75
    full: float = FULL
