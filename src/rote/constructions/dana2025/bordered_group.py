"""One group of a bordered block-diagonal system: its facts, its gated heads, and the factors of its features.

P F = [L_1; L_2] U by partial pivoting. The pivot rows are eliminated; the rest are left to the border, the smaller
system that all groups share (see `bordered`).
"""

from __future__ import annotations

from dataclasses import dataclass
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


def draw_group(
    rows: Integer[Tensor, " rows"],
    code: Float[Tensor, " gate"],
    differences: Differences,
    width: int,
    spec: AttentionOnly,
    generator: torch.Generator,
    filled: float,
    score_size: ScoreSize,
) -> Group:
    """Heads for this share of a group's facts: a taller system is better conditioned, and a border is cheap.

    Resampled until the pivot rows are well conditioned; the best sample is kept. All facts of a group that is too small
    for a head, or whose contexts differ too little, are left to the border.
    """
    count = min(len(rows) // width - 1, int(filled * len(rows)) // width)
    empty = no_heads(rows)
    if count < 1 or differences.rank(rows) < width:
        return empty
    best = empty
    for _ in range(samples(len(rows))):
        heads = draw_gated_heads(count, code, spec, score_size.gated(count), differences, generator, rows)
        features = torch.empty(len(rows), count * width, dtype=torch.float64)
        differences.features(heads, width, features, rows)
        group = factorise(rows, heads, features, generator)
        best = min(best, group, key=lambda drawn: drawn.condition)
        if best.condition < condition_limit(len(rows)):
            break
    return best


def factorise(
    rows: Integer[Tensor, " rows"], heads: Heads, features: Float[Tensor, "rows columns"], generator: torch.Generator
) -> Group:
    """A group of these facts and heads, given their features, with the condition number of its pivot rows."""
    largest = largest_singular(features, generator)
    factors = lu_in_place(columns_first(features))
    count = features.shape[1]
    square, below = rows_of(factors.packed, 0, count), rows_of(factors.packed, count, len(rows))
    condition = float("inf")
    if not factors.singular:
        condition = largest / smallest_singular(
            count, lambda right, transposed: _square_solve(square, right, transposed), generator
        )
    return Group(rows[factors.order], heads, square, below, condition)


def _square_solve(square: Tensor, right: Tensor, transposed: bool = False) -> Tensor:
    """(L_1 U)^-1 right, or its transpose's."""
    solve = torch.linalg.solve_triangular
    if transposed:
        return solve(square.mT, solve(square.mT, right, upper=False), upper=True, unitriangular=True)
    return solve(square, solve(square, right, upper=False, unitriangular=True), upper=True)
