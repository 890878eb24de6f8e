"""Solving F B = E with exactly as many features as facts, or a few more.

One LU factorisation in float32 (half the memory and about 0.6 of the time of float64), then refinement with residuals
in float64: each pass gains about -log10(cond * 6e-8) digits, so a condition number well below 1e7 is needed and is
estimated. Features beyond the square part enter by the Woodbury identity, which gives the solution of least norm.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from scipy.linalg import get_lapack_funcs
from torch import Tensor

SLACK_SHARE = 4
"""Further columns are used up to facts / 4: beyond, they cost more than the factorisation and gain little."""

PASSES = 12
STALLED = 0.5
"""A pass that does not halve the residual has met the precision of the factors."""


@dataclass(frozen=True)
class Factors:
    """P F_1 = L U of the first `facts` columns, and what the further columns need."""

    lu: np.ndarray
    pivots: np.ndarray
    further: Float[Tensor, "facts more"] | None
    """G = F_1^-1 F_2."""
    gram: Float[Tensor, "more more"] | None
    """Cholesky factor of I + G^T G."""

    def square_solve(self, right: Float[Tensor, "facts columns"], transposed: bool = False) -> Tensor:
        """F_1^-1 right, or F_1^-T right, in float64 scaled into the factors' precision."""
        size = right.abs().max().clamp(min=1e-300)
        scaled = np.asfortranarray((right / size).numpy(), dtype=self.lu.dtype)
        solve = get_lapack_funcs("getrs", (self.lu,))
        solution, _ = solve(self.lu, self.pivots, scaled, trans=int(transposed), overwrite_b=True)
        return torch.from_numpy(solution).double() * size

    def solve(self, right: Float[Tensor, "facts columns"]) -> Float[Tensor, "features columns"]:
        """Least-norm B with F B = right: B_1 = (I + G G^T)^-1 F_1^-1 right, B_2 = G^T B_1."""
        first = self.square_solve(right)
        if self.further is None or self.gram is None:
            return first
        first = first - self.further @ torch.cholesky_solve(self.further.T @ first, self.gram)
        return torch.cat([first, self.further.T @ first])


def usable_columns(facts: int, features: int) -> int:
    """How many of the features take part: all, up to a quarter more than facts."""
    return min(features, facts + facts // SLACK_SHARE)


def factorize(features: Float[Tensor, "facts features"], double: bool = False) -> Factors | None:
    """LU of the first square part; None when a pivot vanishes, that is when the features are dependent."""
    facts = features.shape[0]
    square = np.array(features[:, :facts].numpy(), dtype=np.float64 if double else np.float32, order="F")
    factor = get_lapack_funcs("getrf", (square,))
    lu, pivots, info = factor(square, overwrite_a=True)
    if info != 0 or not np.isfinite(lu[-1, -1]):
        return None
    if features.shape[1] == facts:
        return Factors(lu, pivots, None, None)
    further = Factors(lu, pivots, None, None).square_solve(features[:, facts:])
    gram = torch.eye(further.shape[1], dtype=torch.float64) + further.T @ further
    lower, failed = torch.linalg.cholesky_ex(gram)
    return None if int(failed) else Factors(lu, pivots, further, lower)


@dataclass(frozen=True)
class Refined:
    """A solution with the largest residual that is left and the passes it took."""

    solution: Float[Tensor, "features columns"]
    residual: float
    passes: int


def refine(
    features: Float[Tensor, "facts features"],
    factors: Factors,
    right: Float[Tensor, "facts columns"],
    start: Float[Tensor, "features columns"] | None = None,
    tolerance: float = 1e-6,
) -> Refined:
    """Iterative refinement until the largest residual is below `tolerance`, or stalls."""
    solution = factors.solve(right) if start is None else start
    best, passes = float("inf"), 0
    while True:
        left = right - features @ solution
        residual = float(left.abs().max())
        if not residual < STALLED * best or residual < tolerance or passes == PASSES:
            return Refined(solution, residual, passes)
        best, passes = residual, passes + 1
        solution = solution + factors.solve(left)


def condition(
    features: Float[Tensor, "facts features"], factors: Factors, generator: torch.Generator, steps: int = 4
) -> float:
    """Condition number of F_1 in the 2-norm by power iteration on F_1^T F_1 and its inverse, from below.

    The inverse iteration runs on the factors themselves, so beyond 1 / eps it says "at least about 1e8".
    """
    facts = features.shape[0]
    square = features[:, :facts]
    large = torch.randn(facts, 2, generator=generator, dtype=torch.float64)
    small = torch.randn(facts, 4, generator=generator, dtype=torch.float64)
    largest = smallest = 1.0
    for _ in range(steps):
        large = torch.linalg.qr(large)[0]
        large = square.T @ (square @ large)
        largest = float(large.norm(dim=0).max()) ** 0.5
        small = torch.linalg.qr(small)[0]
        small = factors.square_solve(factors.square_solve(small, transposed=True))
        smallest = float(small.norm(dim=0).max()) ** -0.5
    return largest / smallest
