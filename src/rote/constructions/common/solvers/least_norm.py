"""Linear systems Z B = Y with at least as many unknowns as examples: rank, condition number, solution of least norm."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import torch
from jaxtyping import Float
from torch import Tensor

PASSES = 30
"""Power iterations for each extreme singular value: enough for two digits unless the next one is as close."""


@dataclass(frozen=True, eq=False)
class Factored:
    """Z^T = Q R of a features matrix Z (examples x features), Q kept as the reflections that make it."""

    reflections: Float[Tensor, "features examples"]
    scales: Float[Tensor, " examples"]
    R: Float[Tensor, "examples examples"]

    @cached_property
    def extremes(self) -> tuple[float, float]:
        """Largest and smallest singular value, by power iteration with R and its inverse: O(n^2) per pass, where all
        singular values would cost several times the factorisation."""
        start = torch.randn(len(self.R), 1, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
        high = low = start / start.norm()
        largest, inverse = 0.0, 0.0
        for _ in range(PASSES):
            high = self.R.T @ (self.R @ high)
            largest = float(high.norm())
            high = high / max(largest, 1e-300)
            low = torch.linalg.solve_triangular(self.R.T, low, upper=False)
            low = torch.linalg.solve_triangular(self.R, low, upper=True)
            inverse = float(low.norm())
            low = low / inverse if 0 < inverse < float("inf") else start * 0
        # A zero on the diagonal makes the solves overflow or give nan.
        return largest**0.5, inverse**-0.5 if 0 < inverse < float("inf") else 0.0

    @property
    def condition(self) -> float:
        largest, smallest = self.extremes
        return largest / smallest if smallest > 0 else float("inf")

    @cached_property
    def rank(self) -> int:
        """Singular values above rounding error: what float64 leaves of a zero is about size x eps x the largest."""
        largest, smallest = self.extremes
        share = max(self.reflections.shape) * torch.finfo(torch.float64).eps
        if smallest > largest * share:
            return len(self.R)
        singular = torch.linalg.svdvals(self.R)
        return int((singular > singular[0] * share).sum())

    def solve(self, wanted: Float[Tensor, "examples outputs"]) -> Float[Tensor, "features outputs"]:
        """The B of least norm with Z B = wanted; Z must have full row rank."""
        within = torch.linalg.solve_triangular(self.R.T, wanted, upper=False)
        padded = torch.nn.functional.pad(within, (0, 0, 0, len(self.reflections) - len(within)))
        return torch.ormqr(self.reflections, self.scales, padded)

    def solve_few(
        self, features: Float[Tensor, "examples features"], wanted: Float[Tensor, "examples outputs"]
    ) -> Float[Tensor, "features outputs"]:
        """The same for few outputs, in half the time, by the seminormal equations: B = Z^T (R^T R)^-1 wanted.

        It leaves a residual of about eps times the condition number (Demmel and Higham 1993).
        """
        within = torch.linalg.solve_triangular(self.R.T, wanted, upper=False)
        return features.T @ torch.linalg.solve_triangular(self.R, within, upper=True)


def factor(features: Float[Tensor, "examples features"]) -> Factored:
    """Factor float64 features with no fewer columns than rows."""
    reflections, scales = torch.geqrf(features.T.contiguous())
    examples = len(features)
    return Factored(reflections, scales, reflections[:examples, :examples].triu())
