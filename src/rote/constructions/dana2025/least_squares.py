"""Least-squares sequence encoders: f_ls and f_wls, with what bounds their divergence.

A Taylor expansion of the divergence at f = log pi gives E_t Var_pi(f - log pi) / 2, so fitting log pi by least squares
(f_ls), or by least squares weighted with pi (f_wls), is good where log pi is nearly of rank d. Both are fitted to rows
of log pi that are centred first: a softmax cannot see a row's mean, so the rank should not be spent on it.

Source of f_ls, f_wls and the bounds `printed_*`: Dana 2024, slides "Memorization in Attention-only Transformers".
sigma is the largest singular value of log pi that rank d leaves out.
"""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from rote.constructions.dana2025.encoder import Encoder, centred_log

FLOOR = 1e-12
"""Probabilities are raised to this before a logarithm is taken."""

THIRD = 0.0454
"""|third cumulant| / 6 of a variable of range r is at most 0.09623 r^3 / 6, and r^3 <= 2 sqrt(2) |Delta_t|^3."""


def least_squares(truth: Float[Tensor, "contexts vocab"], dim: int, floor: float = FLOOR) -> tuple[Encoder, float]:
    """f_ls: the best rank-d approximation of log pi, and sigma, the singular value it leaves out."""
    left, singular, right = torch.linalg.svd(centred_log(truth, floor), full_matrices=False)
    kept = min(dim, len(singular))
    root = singular[:kept].sqrt()
    spare = (0, dim - kept)
    encoder = Encoder(
        torch.nn.functional.pad(right[:kept].T * root, spare),
        torch.nn.functional.pad(left[:, :kept] * root, spare),
    )
    return encoder, float(singular[dim]) if dim < len(singular) else 0.0


def weighted_least_squares(
    truth: Float[Tensor, "contexts vocab"],
    prior: Float[Tensor, " contexts"],
    dim: int,
    rounds: int = 50,
    floor: float = FLOOR,
) -> Encoder:
    """f_wls: minimise E_t sum_n pi_t(n) (W_n E(t) + c_t - log pi_t(n))^2, by alternating exact solves from f_ls.

    The offsets c_t are free because a softmax does not see them. No closed form exists for weighted low rank; the
    objective falls in every round, so the result is never worse than f_ls in this norm, which is all the bound needs.
    """
    start, _ = least_squares(truth, dim, floor)
    logs = centred_log(truth, floor)
    weight = torch.where(truth > floor, truth, floor)
    weight = weight / weight.sum(1, keepdim=True)
    W, E = start.unembed, start.embed
    eye = torch.eye(dim, dtype=W.dtype)
    joint = prior[:, None] * weight
    for _ in range(rounds):
        mean = weight @ W
        outer = (W[:, :, None] * W[:, None, :]).flatten(1)
        normal = (weight @ outer).unflatten(1, eye.shape) - mean[:, :, None] * mean[:, None, :]
        aim = logs - (weight * logs).sum(1, keepdim=True)
        E = _ridged_solve(normal, (weight * aim) @ W, eye)
        offset = (weight * (logs - E @ W.T)).sum(1, keepdim=True)
        outer = (E[:, :, None] * E[:, None, :]).flatten(1)
        normal = (joint.T @ outer).unflatten(1, eye.shape)
        W = _ridged_solve(normal, (joint * (logs - offset)).T @ E, eye)
    return Encoder(W, E)


def _ridged_solve(normal: Tensor, right: Tensor, eye: Tensor) -> Tensor:
    """Solve many small normal equations; the ridge, far below what matters, keeps degenerate rows solvable."""
    ridge = 1e-11 * normal.diagonal(dim1=1, dim2=2).mean(1) + 1e-14
    return torch.linalg.solve(normal + ridge[:, None, None] * eye, right)


def ls_bound(truth: Float[Tensor, "contexts vocab"], sigma: float) -> float:
    """d_KL(pi, f_ls) <= min( |pi|_inf sigma^2 / 2 + 0.0454 sigma^3, sigma^2 / 4 ), for every pi without zeros.

    With Delta = f_ls - log pi and |Delta_t| <= sigma for every row: the first is Taylor with the third cumulant's
    largest value; the second is Hoeffding's lemma, KL_t <= range(Delta_t)^2 / 8 <= |Delta_t|^2 / 4.
    """
    return min(float(truth.max()) * sigma**2 / 2 + THIRD * sigma**3, sigma**2 / 4)


def printed_ls_bound(truth: Float[Tensor, "contexts vocab"], sigma: float) -> float:
    """As printed: N |pi|_inf^2 sigma^2 + (N |pi|_inf)^(3/2) sigma^3. It holds, and `ls_bound` is never above it."""
    vocab, largest = truth.shape[1], float(truth.max())
    return vocab * largest**2 * sigma**2 + (vocab * largest) ** 1.5 * sigma**3


def printed_wls_bound(truth: Float[Tensor, "contexts vocab"], sigma: float) -> float:
    """As printed: |pi|_inf sigma^2 + (|pi|_inf / |pi|_-inf)^(3/2) sigma^3, |pi|_-inf the smallest probability."""
    largest, smallest = float(truth.max()), float(truth.min())
    if smallest == 0:
        return float("inf")
    return largest * sigma**2 + (largest / smallest) ** 1.5 * sigma**3


def expansion_bound(
    truth: Float[Tensor, "contexts vocab"],
    prior: Float[Tensor, " contexts"],
    logits: Float[Tensor, "contexts vocab"],
    floor: float = FLOOR,
) -> float:
    """d_KL <= E_t phi(m_t) Var_pi(Delta_t), phi(m) = (e^m - 1 - m) / m^2, m_t the largest centred Delta_t.

    Bennett's argument: (e^z - 1 - z) / z^2 increases, so E e^Z <= 1 + phi(max Z) E Z^2 for a centred Z. It holds for
    any encoder and any pi without zeros, and tends to the Taylor term Var / 2 as the fit improves.
    """
    delta = logits - centred_log(truth, floor)
    delta = delta - (truth * delta).sum(1, keepdim=True)
    largest = delta.max(1).values
    phi = torch.where(largest < 1e-4, 0.5 + largest / 6, (largest.expm1() - largest) / largest**2)
    return float(prior @ (phi * (truth * delta**2).sum(1)))
