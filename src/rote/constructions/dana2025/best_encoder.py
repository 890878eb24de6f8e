"""The best sequence encoder of a distribution: minimise E_t KL(pi_t || softmax W E(t)) over W and E.

The problem is not convex in both, and starts matter more than the algorithm: several are tried briefly (f_ls, f_wls,
random), the best of them is carried on. Two algorithms:

- `joint`: L-BFGS over W and E together, E scaled by the root of the prior so that likely and unlikely contexts bend
  the objective alike;
- `projected` (variable projection): L-BFGS over W alone, with E at its optimum, which Newton's method finds exactly
  because the problem is convex in E.

Each ends with Newton steps on E. Where pi has zeros the infimum is not attained (Lemma 1 needs Assumption 2) and logits
grow for as long as the iterations last.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from scipy.optimize import minimize
from torch import Tensor

from rote.constructions.dana2025.encoder import Encoder, best_embedding, expected_divergence
from rote.constructions.dana2025.least_squares import least_squares, weighted_least_squares
from rote.constructions.dana2025.options import Algorithm
from rote.progress import SILENT, Progress


@dataclass(frozen=True, eq=False)
class Fitted:
    """The best encoder found, its divergence, and where each start led before the best was carried on."""

    encoder: Encoder
    divergence: float
    start: str
    starts: dict[str, float]


def best_encoder(
    truth: Float[Tensor, "contexts vocab"],
    prior: Float[Tensor, " contexts"],
    dim: int,
    *,
    seed: int = 0,
    random_starts: int = 2,
    algorithm: Algorithm = "joint",
    trial_steps: int = 150,
    steps: int = 2000,
    progress: Progress = SILENT,
) -> Fitted:
    """The best of several starts; its divergence is an upper bound on d_KL(pi, L(N, S, d)), never a proof of it."""
    fit = _joint if algorithm == "joint" else _projected
    reached: dict[str, tuple[float, Encoder]] = {}
    with progress.stage("fitting the sequence encoder", 3 + random_starts) as stage:
        for name, begin in _starts(truth, prior, dim, seed, random_starts).items():
            tried = fit(truth, prior, begin, trial_steps)
            reached[name] = (expected_divergence(truth, prior, tried.logits), tried)
            stage.advance()
        best = min(reached, key=lambda name: reached[name][0])
        encoder = fit(truth, prior, reached[best][1], steps)
        encoder = Encoder(encoder.unembed, best_embedding(encoder.unembed, truth, encoder.embed))
        stage.advance()
    return Fitted(
        encoder,
        expected_divergence(truth, prior, encoder.logits),
        best,
        {name: divergence for name, (divergence, _) in reached.items()},
    )


def _starts(truth: Tensor, prior: Tensor, dim: int, seed: int, random_starts: int) -> dict[str, Encoder]:
    """Encoders to begin from. Those that fit log pi get the best E for their W, which also bounds them by uniform."""
    plain, _ = least_squares(truth, dim)
    weighted = weighted_least_squares(truth, prior, dim).balanced()
    starts = {
        name: Encoder(encoder.unembed, best_embedding(encoder.unembed, truth, encoder.embed, 10))
        for name, encoder in (("f_ls", plain), ("f_wls", weighted))
    }
    generator = torch.Generator().manual_seed(seed)
    for number in range(random_starts):
        starts[f"random {number + 1}"] = Encoder(
            0.5 * torch.randn(truth.shape[1], dim, generator=generator, dtype=truth.dtype),
            0.1 * torch.randn(len(truth), dim, generator=generator, dtype=truth.dtype),
        )
    return starts


def _joint(truth: Tensor, prior: Tensor, start: Encoder, steps: int) -> Encoder:
    vocab, dim = start.unembed.shape
    # A context of prior zero costs nothing; a floor keeps its row from being scaled by infinity.
    scale = prior.clamp_min(1e-12 * float(prior.max())).sqrt()[:, None]
    weighted = prior[:, None] * truth

    def unpack(point: np.ndarray) -> tuple[Tensor, Tensor]:
        return (
            torch.from_numpy(point[: vocab * dim].reshape(vocab, dim)),
            torch.from_numpy(point[vocab * dim :].reshape(-1, dim)) / scale,
        )

    def objective(point: np.ndarray) -> tuple[float, np.ndarray]:
        W, E = unpack(point)
        logits = E @ W.T
        value = float(prior @ logits.logsumexp(1) - (weighted * logits).sum())
        residual = logits.softmax(1).mul_(prior[:, None]).sub_(weighted)
        return value, torch.cat([(residual.T @ E).flatten(), (residual @ W / scale).flatten()]).numpy()

    begin = torch.cat([start.unembed.flatten(), (start.embed * scale).flatten()]).numpy()
    return Encoder(*unpack(_lbfgs(objective, begin, steps)))


def _projected(truth: Tensor, prior: Tensor, start: Encoder, steps: int) -> Encoder:
    shape = start.unembed.shape
    weighted = prior[:, None] * truth
    embed = start.embed

    def objective(point: np.ndarray) -> tuple[float, np.ndarray]:
        nonlocal embed
        W = torch.from_numpy(point.reshape(shape))
        embed = best_embedding(W, truth, embed, 12)
        logits = embed @ W.T
        value = float(prior @ logits.logsumexp(1) - (weighted * logits).sum())
        residual = logits.softmax(1).mul_(prior[:, None]).sub_(weighted)
        return value, (residual.T @ embed).flatten().numpy()

    W = torch.from_numpy(_lbfgs(objective, start.unembed.flatten().numpy(), steps).reshape(shape))
    return Encoder(W, best_embedding(W, truth, embed))


def _lbfgs(objective: Any, begin: np.ndarray, steps: int) -> np.ndarray:
    options = {"maxiter": steps, "maxfun": 2 * steps, "maxcor": 20, "ftol": 1e-13, "gtol": 1e-9}
    return minimize(objective, begin, jac=True, method="L-BFGS-B", options=options).x
