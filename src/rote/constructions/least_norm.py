"""Linear systems Z B = Y with at least as many unknowns as examples: rank, condition number, solution of least norm."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor


@dataclass(frozen=True, eq=False)
class Factored:
    """Z^T = Q R of a features matrix Z (examples x features), with the singular values of Z."""

    Q: Float[Tensor, "features examples"]
    R: Float[Tensor, "examples examples"]
    singular: Float[Tensor, " examples"]

    @property
    def rank(self) -> int:
        """Singular values above rounding error: what float64 leaves of a zero is about size x eps x the largest."""
        noise = float(self.singular[0]) * max(self.Q.shape) * torch.finfo(torch.float64).eps
        return int((self.singular > noise).sum())

    @property
    def condition(self) -> float:
        smallest = float(self.singular[-1])
        return float("inf") if smallest == 0 else float(self.singular[0]) / smallest

    def solve(self, wanted: Float[Tensor, "examples outputs"]) -> Float[Tensor, "features outputs"]:
        """The B of least norm with Z B = wanted; Z must have full row rank."""
        return self.Q @ torch.linalg.solve_triangular(self.R.T, wanted, upper=False)


def factor(features: Float[Tensor, "examples features"]) -> Factored:
    """Factor float64 features with no fewer columns than rows."""
    Q, R = torch.linalg.qr(features.T)
    return Factored(Q, R, torch.linalg.svdvals(R))
