"""Figures about vector tasks, as data: what is trained, and whether its capacity is searched for or its accuracy asked.

Notation: `heads` H, `context` n, `head_dim` k, `dim` d, `examples` T.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from rote.models.query_attention import QueryAttention
from rote.papers.paper import Claim

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
    """Labels among so many; one real target when absent."""

    @property
    def spec(self) -> QueryAttention:
        return QueryAttention.experiment(self.context, self.classes or 1, self.heads, self.head_dim, self.dim)

    @property
    def promised(self) -> int:
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
    saturated: float = 0.99
    note: str = ""


VectorFigure = CapacityFigure | GridFigure | SaturationFigure
