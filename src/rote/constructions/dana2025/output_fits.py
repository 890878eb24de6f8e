"""W_O for distributions: exact where features suffice, and three ways where contexts outnumber them.

Logits are F B W^T with F the features of fixed attention (skip columns first), W an encoder's unembedding and E its
embedding. With at least as many independent features as contexts, F B = E is solved exactly. Otherwise:

- `paper`: exact on the likeliest contexts, whatever comes out elsewhere (Dana et al. 2025, proof of Theorem 1);
- `weighted`: least squares on E, weighted with the prior;
- `convex`: the divergence itself, which is convex in B for fixed W, so that nothing with this W does better;
- `joint`: from there on over W as well, which is not convex but never worse.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from scipy.optimize import minimize
from torch import Tensor

from rote.constructions.common.whitening import whiten
from rote.constructions.dana2025.encoder import Encoder, expected_divergence

CUTOFF = 1e-7
"""Directions of the weighted features below this share of the largest are left to zero; float64 carries no more."""


@dataclass(frozen=True, eq=False)
class OutputProblem:
    """Features of fixed attention, the encoder to be met, and the distribution that says what a miss costs."""

    features: Float[Tensor, "contexts features"]
    encoder: Encoder
    truth: Float[Tensor, "contexts vocab"]
    prior: Float[Tensor, " contexts"]

    def divergence(self, solved: Float[Tensor, "features dim"], unembed: Tensor | None = None) -> float:
        W = self.encoder.unembed if unembed is None else unembed
        return expected_divergence(self.truth, self.prior, self.features @ solved @ W.T)

    def likeliest_first(self) -> Tensor:
        """Contexts by falling prior; ties in their own order."""
        return torch.argsort(self.prior, descending=True, stable=True)


def exact_output(problem: OutputProblem) -> Float[Tensor, "features dim"]:
    """The B of least norm with F B = E, for contexts no more than features."""
    return _least_norm(problem.features, problem.encoder.embed)


def paper_output(problem: OutputProblem) -> Float[Tensor, "features dim"]:
    """Exact on as many of the likeliest contexts as there are features."""
    count = min(problem.features.shape)
    rows = problem.likeliest_first()[:count]
    return _least_norm(problem.features[rows], problem.encoder.embed[rows])


def weighted_output(problem: OutputProblem) -> Float[Tensor, "features dim"]:
    """min_B E_t |F_t B - E(t)|^2."""
    root = problem.prior.sqrt()[:, None]
    white = whiten(root * problem.features, CUTOFF)
    return white.back @ (white.columns.T @ (root * problem.encoder.embed)) / len(root)


def convex_output(problem: OutputProblem, steps: int = 1000) -> Float[Tensor, "features dim"]:
    """min_B E_t KL(pi_t || softmax(F_t B W^T)), from the best of zero, `weighted` and `paper`."""
    candidates = [
        torch.zeros(problem.features.shape[1], problem.encoder.dim, dtype=torch.float64),
        weighted_output(problem),
        paper_output(problem),
    ]
    start = min(candidates, key=problem.divergence)
    solved, _ = _descend(problem, start, problem.encoder.unembed, steps, fit_unembed=False)
    return min((start, solved), key=problem.divergence)


def joint_output(
    problem: OutputProblem, start: Float[Tensor, "features dim"], steps: int = 2000
) -> tuple[Float[Tensor, "features dim"], Float[Tensor, "vocab dim"]]:
    """min over B and W together, from a B that was fitted for the encoder's W."""
    solved, unembed = _descend(problem, start, problem.encoder.unembed, steps, fit_unembed=True)
    if problem.divergence(solved, unembed) < problem.divergence(start):
        return solved, unembed
    return start, problem.encoder.unembed


def _least_norm(features: Tensor, wanted: Tensor) -> Tensor:
    # gelsd: least norm also where features repeat each other.
    return torch.linalg.lstsq(features, wanted, driver="gelsd").solution


def _descend(
    problem: OutputProblem, start: Tensor, unembed: Tensor, steps: int, fit_unembed: bool
) -> tuple[Tensor, Tensor]:
    """L-BFGS in coordinates that make the prior-weighted features orthonormal."""
    root = problem.prior.sqrt()[:, None]
    white = whiten(root * problem.features, CUTOFF)
    columns = problem.features @ white.back
    weighted = problem.prior[:, None] * problem.truth
    rank, dim, cut = white.rank, start.shape[1], white.rank * start.shape[1]
    # Coordinates of the start; what it has outside the features' span changes no logit.
    begin = white.columns.T @ (root * (problem.features @ start)) / len(root)

    def unpack(point: np.ndarray) -> tuple[Tensor, Tensor]:
        vector = torch.from_numpy(point)
        return vector[:cut].view(rank, dim), vector[cut:].view(-1, dim) if fit_unembed else unembed

    def objective(point: np.ndarray) -> tuple[float, np.ndarray]:
        B, W = unpack(point)
        stream = columns @ B
        logits = stream @ W.T
        value = float(problem.prior @ logits.logsumexp(1) - (weighted * logits).sum())
        residual = logits.softmax(1).mul_(problem.prior[:, None]).sub_(weighted)
        slopes = [(columns.T @ (residual @ W)).flatten()]
        if fit_unembed:
            slopes.append((residual.T @ stream).flatten())
        return value, torch.cat(slopes).numpy()

    parts = [begin.flatten(), unembed.flatten()] if fit_unembed else [begin.flatten()]
    options = {"maxiter": steps, "maxfun": 2 * steps, "maxcor": 20, "ftol": 1e-12, "gtol": 1e-9}
    ended = minimize(objective, torch.cat(parts).numpy(), jac=True, method="L-BFGS-B", options=options)
    B, W = unpack(ended.x)
    return white.back @ B, W.clone()


@dataclass(frozen=True)
class PaperBound:
    """Theorem 1's bound on d_KL(built) - d_KL(encoder) for eps > 0, evaluated, and what it is made of.

    The proof's chain gives sqrt(2) C eps |W E|_2 with C = sqrt(1 + 1/s^2), s the smallest singular value of the
    likeliest rows of an orthonormal basis of the features' span. `by_ranges` is Theorem 3's inequality (19) in a form
    that can be evaluated for any pi: unlikely contexts get sum_j c_j f(j) over the likely ones, so the gap is at most
    E_{t unlikely}[1 + |c_t|_1] times the largest range of an encoder's logits.
    """

    epsilon: float
    constant: float
    by_norm: float
    by_ranges: float


def paper_bound(problem: OutputProblem) -> PaperBound:
    """Both bounds hold for `paper`, hence for `convex`, which is never worse."""
    order = problem.likeliest_first()
    basis, sizes, _ = torch.linalg.svd(problem.features, full_matrices=False)
    count = int((sizes > 1e-10 * sizes[0]).sum())
    likely, unlikely = order[:count], order[count:]
    square = basis[likely, :count]
    smallest = float(torch.linalg.svdvals(square)[-1])
    epsilon = float(problem.prior[unlikely].sum())
    logits = problem.encoder.logits
    constant = math.sqrt(1 + 1 / smallest**2) if smallest > 0 else math.inf
    mixing = torch.linalg.solve(square.T, basis[unlikely, :count].T).T
    largest = float((logits.max(1).values - logits.min(1).values).max())
    return PaperBound(
        epsilon,
        constant,
        math.sqrt(2) * constant * epsilon * float(torch.linalg.matrix_norm(logits, 2)),
        float(problem.prior[unlikely] @ (1 + mixing.abs().sum(1))) * largest,
    )
