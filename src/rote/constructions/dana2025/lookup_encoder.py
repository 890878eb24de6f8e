"""The encoder of Theorem 2, E(t) = lambda(t) W_g(t) with nearly orthogonal rows, and the theorem's bounds.

Notation and equation (6) are in `theorem2`.
"""

from __future__ import annotations

import math
from typing import Literal

import torch
from jaxtyping import Float, Int
from torch import Tensor

from rote.constructions.common.saturation import LARGEST_SCORE
from rote.constructions.dana2025.encoder import Encoder


def printed_constant(vocab: int, dim: int) -> float:
    """C = sqrt(32 ln(N + 1) / d), the Johnson-Lindenstrauss constant of Theorem 2."""
    return math.sqrt(32 * math.log(vocab + 1) / dim)


def random_rows(vocab: int, dim: int, kind: str, generator: torch.Generator) -> Float[Tensor, "vocab dim"]:
    """Nearly orthogonal rows, orthonormal where the dimension allows it."""
    rows = torch.randn(max(vocab, 1), dim, generator=generator, dtype=torch.float64)
    if dim >= vocab:
        return torch.linalg.qr(rows.T)[0].T.contiguous()
    return rows / (rows.norm(dim=1, keepdim=True) if kind == "unit" else math.sqrt(dim))


def lookup_encoder(
    truth: Float[Tensor, "contexts vocab"],
    answers: Int[Tensor, " contexts"],
    rows: Float[Tensor, "vocab dim"],
    scale: Literal["direct", "entropy"],
) -> tuple[Encoder, Float[Tensor, " contexts"]]:
    """E(t) = lambda(t) W_g(t), and lambda."""
    gaps = _gaps(rows, answers)
    entropy = -torch.special.xlogy(truth, truth).sum(1)
    apart = gaps.scatter(1, answers[:, None], math.inf).min(1).values
    # A row too near another's has no solution of (6), hence lambda = 0, which predicts uniform; the divergence, convex
    # in lambda, has its minimum all the same.
    otherwise = torch.zeros_like(apart) if scale == "entropy" else LARGEST_SCORE / gaps.abs().max(1).values
    high = torch.where(apart > 0, LARGEST_SCORE / apart.clamp_min(1e-12), otherwise)
    low = torch.zeros_like(high)
    for _ in range(100):
        middle = (low + high) / 2
        # Both conditions fall as lambda grows: (6)'s right side, and minus the divergence's slope.
        if scale == "entropy":
            above = (-middle[:, None] * gaps).logsumexp(1) > entropy
        else:
            above = (((-middle[:, None] * gaps).softmax(1) - truth) * gaps).sum(1) > 0
        low, high = torch.where(above, middle, low), torch.where(above, high, middle)
    chosen = (low + high) / 2
    return Encoder(rows, chosen[:, None] * rows[answers]), chosen


def _gaps(rows: Tensor, answers: Tensor) -> Tensor:
    own = rows[answers]
    return (own * own).sum(1, keepdim=True) - own @ rows.T


def entropy_term(
    truth: Float[Tensor, "contexts vocab"], answers: Int[Tensor, " contexts"]
) -> Float[Tensor, " contexts"]:
    """q log((N - 1) / (e^h - 1)) for every context; 0 where nothing is left to other tokens."""
    rest = 1 - truth.gather(1, answers[:, None])[:, 0]
    entropy = -torch.special.xlogy(truth, truth).sum(1)
    term = rest * (math.log(truth.shape[1] - 1) - entropy.expm1().log())
    return torch.where(rest > 0, term, 0.0)


def corrected_bound(
    truth: Float[Tensor, "contexts vocab"],
    prior: Float[Tensor, " contexts"],
    answers: Int[Tensor, " contexts"],
    constant: float,
) -> float | None:
    """Theorem 2 without its total-variation term: E_t[...] (1 + 2C) / (1 - 2C), or nothing where C >= 1/2."""
    if constant >= 0.5:
        return None
    return float(prior @ entropy_term(truth, answers)) * (1 + 2 * constant) / (1 - 2 * constant)


def measured_bound(
    truth: Float[Tensor, "contexts vocab"],
    prior: Float[Tensor, " contexts"],
    answers: Int[Tensor, " contexts"],
    rows: Float[Tensor, "vocab dim"],
) -> float | None:
    """The same for these rows, gap by gap instead of by C; None if a row comes too near another."""
    others = torch.ones(len(answers), rows.shape[0], dtype=torch.bool).scatter_(1, answers[:, None], False)
    gaps = _gaps(rows, answers)
    nearest = gaps.where(others, math.inf).min(1).values
    furthest = gaps.where(others, -math.inf).max(1).values
    if not bool((nearest > 0).all()):
        return None
    return float(prior @ (entropy_term(truth, answers) * furthest / nearest))
