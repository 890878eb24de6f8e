"""A paper, its experiments, its figures and its claims, as data.

An experiment is a grid of cells and how the paper trained them; a figure is a view of an experiment with claims to
check. Two figures may view one experiment: its trials are run once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from rote.models.attention_only import AttentionOnly
from rote.models.mlp_transformer import MlpTransformer

if TYPE_CHECKING:
    from rote.papers.findings import Findings, Series
    from rote.training.protocol import Protocol

Outcome = Literal["holds", "does not", "undecided"]
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

    def protocol(self, name: str, spec: AttentionOnly | MlpTransformer) -> Protocol:
        """The protocol of that name for this cell; every one draws as many samples as the paper did."""
        from rote.training.protocol import paper, protocol_named

        if name == "paper":
            return paper(self.batches, self.batch, self.epochs, self.peak, self.final)
        return protocol_named(name, spec, spec.vocab**spec.context, self.samples)


@dataclass(frozen=True)
class Cell:
    """One point of a grid: what is trained, and where it is plotted."""

    series: str
    x: float
    spec: AttentionOnly | MlpTransformer
    training: Training = Training()
    published: float | None = None
    """Accuracy as released, in the sampled weighting."""


@dataclass(frozen=True)
class Quick:
    """What `--quick` keeps of a grid."""

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

    def chosen(self, quick: bool, variant: str | None) -> tuple[Cell, ...]:
        """The cells to run; a variant restricts the grid where there is a choice."""
        cells = self.cells
        if variant is not None and any(getattr(cell.spec, "compressed", False) for cell in cells):
            cells = tuple(cell for cell in cells if getattr(cell.spec, "variant", variant) == variant)
        if quick:
            named: dict[str, list[Cell]] = {}
            for cell in cells:
                if self.quick.series is None or cell.series in self.quick.series:
                    named.setdefault(cell.series, []).append(cell)
            cells = tuple(cell for members in named.values() for cell in members[:: self.quick.every])
        return cells


@dataclass(frozen=True)
class Verdict:
    """What became of a claim, with the numbers it was decided by."""

    outcome: Outcome
    why: str
    numbers: dict[str, Any]


@dataclass(frozen=True)
class Claim:
    """Something a paper says, and how it is decided.

    `check` is asked once per weighting. `rule` says in words what counts as holding.
    """

    id: str
    statement: str
    rule: str
    check: Callable[[Findings, Weighting], Verdict]


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
    derive: Callable[[list[Series]], list[Series]] | None = None
    """Points that are computed from the experiment's own, such as slopes; absent when they are drawn as they are."""


@dataclass(frozen=True)
class Paper:
    """A paper whose figures can be reproduced."""

    id: str
    citation: str
    figures: tuple[Figure, ...]
