"""One group of a bordered block-diagonal system: its facts, its gated heads, and the factors of its features.

P F = [L_1; L_2] U by partial pivoting. The pivot rows are eliminated; the rest are left to the border, the smaller
system that all groups share (see `bordered`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import torch
from jaxtyping import Float, Integer
from torch import Tensor

from rote.constructions.common.random_attention.draw import Heads, ScoreSize
from rote.constructions.common.random_attention.features import Differences
from rote.constructions.common.solvers.exactly_determined import (
    columns_first,
    largest_singular,
    lu_in_place,
    rows_of,
    smallest_singular,
)
from rote.constructions.dana2025.gated_heads import draw_gated_heads
from rote.models.attention_only import AttentionOnly

USUAL_ROWS = 500
"""Facts of a group for which the limits below were set."""


def condition_limit(rows: int) -> float:
    """Largest condition number of the pivot rows; a group above it is resampled.

    If keys are spelled words it grows about as the square of the group's facts in every sample: 6e6 at 9,906.
    """
    return 1e5 * max(1.0, rows / USUAL_ROWS) ** 2


def samples(rows: int) -> int:
    """Samples of a group at most. Large groups get fewer: they vary less, and one costs the cube of their size."""
    return max(2, min(8, 8 * USUAL_ROWS // rows))


@dataclass(frozen=True)
class Group:
    """One group's facts, its heads and the factors of its features."""

    rows: Integer[Tensor, " rows"]
    """Facts in pivot order: the first ones are eliminated, the rest go to the border."""
    heads: Heads | None
    square: Float[Tensor, "eliminated eliminated"]
    """L_1 and U of the pivot rows, packed."""
    below: Float[Tensor, "left eliminated"]
    """L_2."""
    condition: float

    def reduce(self, right: Float[Tensor, "rows columns"]) -> Reduced:
        """Eliminate: L_1^-1 right_1 for the pivot rows, right_2 - L_2 L_1^-1 right_1 for those left to the border."""
        count = len(self.square)
        if not count:
            return Reduced(right[:0], right)
        top = torch.linalg.solve_triangular(self.square, right[:count], upper=False, unitriangular=True)
        return Reduced(top, right[count:] - self.below @ top)

    def solve(self, eliminated: Float[Tensor, "eliminated columns"]) -> Float[Tensor, "eliminated columns"]:
        """B_j = U^-1 of what elimination made of the pivot rows."""
        return torch.linalg.solve_triangular(self.square, eliminated, upper=True)


def no_heads(rows: Integer[Tensor, " rows"]) -> Group:
    """A group that leaves all its facts to the border."""
    nothing = torch.empty(len(rows), 0, dtype=torch.float64)
    return Group(rows, None, nothing[:0], nothing, float("inf"))


class Reduced(NamedTuple):
    """What elimination makes of a right-hand side."""

    eliminated: Float[Tensor, "eliminated columns"]
    left: Float[Tensor, "left columns"]


@dataclass(frozen=True)
class GroupDraw:
    """What the samples of one group have in common: its facts, its gate, and how many heads it gets.

    Heads take this share of a group's facts: a taller system is better conditioned, and a border is cheap.
    """

    rows: Integer[Tensor, " rows"]
    code: Float[Tensor, " gate"]
    differences: Differences
    width: int
    spec: AttentionOnly
    filled: float

    @property
    def heads(self) -> int:
        """None for a group that is too small for a head, or whose contexts differ too little: the border takes it."""
        count = min(len(self.rows) // self.width - 1, int(self.filled * len(self.rows)) // self.width)
        return 0 if count < 1 or self.differences.rank(self.rows) < self.width else count

    @property
    def limit(self) -> float:
        return condition_limit(len(self.rows))

    def sample(self, score_size: ScoreSize, generator: torch.Generator) -> Callable[[], Group]:
        """The work that factorises one sample. All that is random is drawn now, so it may be done at any time."""
        count = self.heads
        if not count:
            return partial(no_heads, self.rows)
        std = score_size.gated(count)
        heads = draw_gated_heads(count, self.code, self.spec, std, self.differences, generator, self.rows)
        starts = Starts.draw(count * self.width, generator)
        return lambda: factorise(self.rows, heads, self._features(heads), starts)

    def accepts(self, group: Group) -> bool:
        """Whether no further sample is needed."""
        return group.heads is None or group.condition < self.limit

    def best(self, first: Group, score_size: ScoreSize, generator: torch.Generator) -> Group:
        """The best of a few samples of which this is the first; the first that is accepted ends them.

        If all are singular, the group leaves its facts to the border.
        """
        best = min(no_heads(self.rows), first, key=lambda drawn: drawn.condition)
        for _ in range(samples(len(self.rows)) - 1):
            if best.condition < self.limit:
                break
            best = min(best, self.sample(score_size, generator)(), key=lambda drawn: drawn.condition)
        return best

    def _features(self, heads: Heads) -> Tensor:
        features = torch.empty(len(self.rows), len(heads) * self.width, dtype=torch.float64)
        self.differences.features(heads, self.width, features, self.rows)
        return features


@dataclass(frozen=True)
class Starts:
    """Random vectors from which the extreme singular values of a group's features are iterated."""

    largest: Float[Tensor, " columns"]
    smallest: Float[Tensor, "columns 1"]

    @classmethod
    def draw(cls, columns: int, generator: torch.Generator) -> Starts:
        largest = torch.randn(columns, generator=generator, dtype=torch.float64)
        return cls(largest, torch.randn(columns, 1, generator=generator, dtype=torch.float64))


def factorise(
    rows: Integer[Tensor, " rows"], heads: Heads, features: Float[Tensor, "rows columns"], starts: Starts
) -> Group:
    """A group of these facts and heads, given their features, with the condition number of its pivot rows."""
    largest, count = largest_singular(features, starts.largest), features.shape[1]
    turned = columns_first(features)
    # Of several thousand facts each copy takes most of a gigabyte.
    del features
    factors = lu_in_place(turned)
    square, below = rows_of(factors.packed, 0, count), rows_of(factors.packed, count, len(rows))
    condition = float("inf")
    if not factors.singular:
        condition = largest / smallest_singular(
            lambda right, transposed: _square_solve(square, right, transposed), starts.smallest
        )
    return Group(rows[factors.order], heads, square, below, condition)


def _square_solve(square: Tensor, right: Tensor, transposed: bool = False) -> Tensor:
    """(L_1 U)^-1 right, or its transpose's."""
    solve = torch.linalg.solve_triangular
    if transposed:
        return solve(square.mT, solve(square.mT, right, upper=False), upper=True, unitriangular=True)
    return solve(square, solve(square, right, upper=False, unitriangular=True), upper=True)
