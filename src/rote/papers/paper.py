"""A paper's experiments, figures and claims, as data.

An experiment is a grid of cells and how the paper trained them; a figure is a view of an experiment with claims to
check. Two figures may view one experiment: its trials are run once.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from rote.models.attention_only import Transformer
from rote.papers.rules import Rule

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
    """One point of a grid: what is trained, and where it is plotted."""

    series: str
    x: float
    spec: Transformer
    training: Training = Training()
    published: float | None = None
    """Accuracy as released, in the sampled weighting."""
    fast: Shortened | None = None
    """The protocol's own choice when absent."""


def positions_of(cells: Iterable[Cell]) -> str:
    """Where positions enter the models of these cells, as one word or several."""
    return ", ".join(sorted({cell.spec.positions for cell in cells}))


@dataclass(frozen=True)
class Quick:
    """What a quick run keeps of a grid."""

    series: tuple[str, ...] | None = None
    """Names; all when absent."""
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

    @property
    def positions(self) -> str:
        """Where positions enter its models."""
        return positions_of(self.cells)


@dataclass(frozen=True)
class Claim:
    """Something a paper says, and the rule by which `rote.experiments.lookups.verdicts` decides it."""

    id: str
    statement: str
    rule: Rule


@dataclass(frozen=True)
class Figure:
    """A view of an experiment."""

    id: str
    title: str
    experiment: Experiment
    x: str
    """Label of the x axis."""
    laws: tuple[str, ...]
    """Forms compared in every series; the first is the one the paper draws."""
    claims: tuple[Claim, ...]
    y: str = "accuracy"
    saturation: float | None = 0.95
    """Accuracy from which a point says only that the memory is full; absent where y has no ceiling."""
    derived: Literal["slopes"] | None = None
    """`slopes`: points are the slopes of the experiment's series; absent when they are drawn as they are."""
