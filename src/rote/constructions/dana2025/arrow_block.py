"""One block of the gated arrowhead: a group's facts, its gated heads, and the factors of its features.

P F = [L_1; L_2] U by partial pivoting: the pivot rows are eliminated, the rest are left to the border, the smaller
system that all blocks share (see `arrowhead`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import torch
from jaxtyping import Float, Integer
from torch import Tensor

from rote.constructions.common.random_attention.draw import Heads
from rote.constructions.common.random_attention.features import Differences
from rote.constructions.common.random_attention.score_size import ScoreSize
from rote.constructions.common.solvers.lu import columns_first, lu_in_place, rows_of
from rote.constructions.common.solvers.zero_slack import largest_singular, smallest_singular
from rote.constructions.dana2025.gated_heads import draw_gated_heads
from rote.models.attention_only import AttentionOnly

USUAL_ROWS = 500
"""Facts of a block for which the limits below were set."""


def block_gate(rows: int) -> float:
    """Pivot rows whose condition number is above this are drawn again.

    Where keys are spelled words it grows about as the square of a block's facts, whatever the draw: 6e6 at 9,906.
    """
    return 1e5 * max(1.0, rows / USUAL_ROWS) ** 2


def block_draws(rows: int) -> int:
    """Fewer chances for large blocks: they vary less, and a draw costs the cube of their size."""
    return max(2, min(8, 8 * USUAL_ROWS // rows))


@dataclass(frozen=True)
class Block:
    """One group's facts, its heads and the factors of its features."""

    rows: Integer[Tensor, " rows"]
    """Facts in pivot order: the first ones are eliminated, the rest go to the border."""
    heads: Heads | None
    square: Float[Tensor, "eliminated eliminated"]
    """L_1 and U of the pivot rows, packed."""
    below: Float[Tensor, "left eliminated"]
    """L_2."""
    condition: float

    @property
    def pivots(self) -> Integer[Tensor, " eliminated"]:
        return self.rows[: len(self.square)]

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


class Reduced(NamedTuple):
    """What elimination makes of a right-hand side."""

    eliminated: Float[Tensor, "eliminated columns"]
    left: Float[Tensor, "left columns"]


def draw_block(
    rows: Integer[Tensor, " rows"],
    code: Float[Tensor, " gate"],
    differences: Differences,
    width: int,
    spec: AttentionOnly,
    generator: torch.Generator,
    filled: float,
    score_size: ScoreSize,
) -> Block:
    """Heads for one group, for this share of its facts: a taller block is better conditioned, and a border is cheap.

    Drawn until the pivot rows are well conditioned; the best draw is kept. A group too small for a head, or whose
    contexts differ too little, is left to the border whole.
    """
    count = min(len(rows) // width - 1, int(filled * len(rows)) // width)
    nothing = torch.empty(len(rows), 0, dtype=torch.float64)
    empty = Block(rows, None, nothing[:0], nothing, float("inf"))
    if count < 1 or differences.rank(rows) < width:
        return empty
    best = empty
    for _ in range(block_draws(len(rows))):
        heads = draw_gated_heads(count, code, spec, score_size.gated(count), differences, generator, rows)
        features = torch.empty(len(rows), count * width, dtype=torch.float64)
        differences.features(heads, width, features, rows)
        block = _factorise(rows, heads, features, generator)
        best = min(best, block, key=lambda drawn: drawn.condition)
        if best.condition < block_gate(len(rows)):
            break
    return best


def _factorise(
    rows: Integer[Tensor, " rows"], heads: Heads, features: Float[Tensor, "rows columns"], generator: torch.Generator
) -> Block:
    largest = largest_singular(features, generator)
    factors = lu_in_place(columns_first(features))
    count = features.shape[1]
    square, below = rows_of(factors.packed, 0, count), rows_of(factors.packed, count, len(rows))
    condition = float("inf")
    if not factors.singular:
        condition = largest / smallest_singular(
            count, lambda right, transposed: _square_solve(square, right, transposed), generator
        )
    return Block(rows[factors.order], heads, square, below, condition)


def _square_solve(square: Tensor, right: Tensor, transposed: bool = False) -> Tensor:
    """(L_1 U)^-1 right, or its transpose's."""
    solve = torch.linalg.solve_triangular
    if transposed:
        return solve(square.mT, solve(square.mT, right, upper=False), upper=True, unitriangular=True)
    return solve(square, solve(square, right, upper=False, unitriangular=True), upper=True)
