"""Sequence encoders f(t) = W E(t): what every Transformer of embedding dimension d is, seen from its unembedding.

Dana, Pydi and Chevaleyre 2025, Definition 1: L(N, S, d) holds all maps from contexts to logits whose matrix has rank
at most d. Proposition 1: no Transformer of embedding dimension d comes closer to a distribution than the best of them.

Notation: `unembed` is W (vocab x dim), `embed` is E (contexts x dim), `truth` holds pi_t in its rows, `prior` pi(t).

The sequence encoder that meets every distribution exactly, in d >= N - 1 dimensions (Proposition 2).

log pi_t minus its mean lies in the N - 1 dimensions orthogonal to (1, ..., 1). W holds an orthonormal basis of them
(Helmert's) and E(t) the coordinates, so W E(t) = log pi_t up to a shift that a softmax does not see.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from rote.constructions.dana2025.options import encoder_spec
from rote.models.model import Model, dtype_named
from rote.models.spec import SOLVE_FLOATS, rows_within
from rote.tasks import DistributionTask, TokenTask


@dataclass(frozen=True, eq=False)
class Encoder:
    """W and E of a sequence encoder, in float64."""

    unembed: Float[Tensor, "vocab dim"]
    embed: Float[Tensor, "contexts dim"]

    @property
    def dim(self) -> int:
        return self.unembed.shape[1]

    @property
    def logits(self) -> Float[Tensor, "contexts vocab"]:
        return self.embed @ self.unembed.T

    def balanced(self) -> Encoder:
        """The same map with W and E of equal singular values: W <- W C, E <- E C^-T leaves W E(t) as it is."""
        (basis_w, small_w), (basis_e, small_e) = torch.linalg.qr(self.unembed), torch.linalg.qr(self.embed)
        left, singular, right = torch.linalg.svd(small_w @ small_e.T)
        root = singular.sqrt()
        return Encoder(_fill(basis_w @ left * root, self.dim), _fill(basis_e @ right.T * root, self.dim))


def _fill(matrix: Tensor, columns: int) -> Tensor:
    """The matrix with columns of zeros up to so many."""
    return torch.nn.functional.pad(matrix, (0, columns - matrix.shape[1]))[:, :columns].contiguous()


def encoder_model(encoder: Encoder, task: TokenTask, dtype: str) -> Model:
    """An encoder, one row per context of the task, as a model in the dtype that is saved."""
    kind = dtype_named(dtype)
    spec = encoder_spec(task, encoder.dim)
    weights = {
        "encodings": encoder.embed.to(kind).contiguous(),
        "unembed": encoder.unembed.to(kind).contiguous(),
        "keys": torch.from_numpy(task.contexts).long(),
    }
    return Model(spec, weights, task.vocabulary)


def truth_and_prior(
    task: DistributionTask,
) -> tuple[Float[Tensor, "contexts vocab"], Float[Tensor, " contexts"]]:
    """The task as matrices in float64."""
    return torch.from_numpy(task.dense()), torch.from_numpy(task.prior)


def row_divergences(
    truth: Float[Tensor, "contexts vocab"], logits: Float[Tensor, "contexts vocab"]
) -> Float[Tensor, " contexts"]:
    """KL(pi_t || softmax logits(t)) of every row, in nats; 0 log 0 = 0."""
    return torch.special.xlogy(truth, truth).sum(1) + logits.logsumexp(1) - (truth * logits).sum(1)


def expected_divergence(
    truth: Float[Tensor, "contexts vocab"],
    prior: Float[Tensor, " contexts"],
    logits: Float[Tensor, "contexts vocab"],
) -> float:
    """d_KL = E_t KL(pi_t || softmax logits(t)), in nats."""
    return float(prior @ row_divergences(truth, logits))


def encoder_divergence(task: DistributionTask, encoder: Encoder) -> dict[str, float]:
    """What an encoder reaches on a task in float64, beside what predicting uniform does."""
    truth, prior = truth_and_prior(task)
    return {
        "divergence_float64": expected_divergence(truth, prior, encoder.logits),
        "uniform": expected_divergence(truth, prior, torch.zeros_like(truth)),
    }


def centred_log(truth: Float[Tensor, "contexts vocab"], floor: float) -> Float[Tensor, "contexts vocab"]:
    """log pi_t minus its row's mean, which a softmax cannot see; probabilities below `floor` are raised to it."""
    logs = truth.clamp_min(floor).log()
    return logs - logs.mean(1, keepdim=True)


def best_embedding(
    unembed: Float[Tensor, "vocab dim"],
    truth: Float[Tensor, "contexts vocab"],
    start: Float[Tensor, "contexts dim"],
    steps: int = 40,
) -> Float[Tensor, "contexts dim"]:
    """For each context the E(t) that minimises KL(pi_t || softmax W E(t)): convex, by damped Newton steps.

    No row ends worse than it started, and none worse than E(t) = 0, which predicts the uniform distribution.
    """
    dim = unembed.shape[1]
    # Hessians take dim^2 numbers for every context.
    step = rows_within(SOLVE_FLOATS, dim * dim + 4 * unembed.shape[0])
    done = [
        _newton(unembed, truth[rows : rows + step], start[rows : rows + step], steps)
        for rows in range(0, len(truth), step)
    ]
    return torch.cat(done)


def _newton(W: Tensor, truth: Tensor, start: Tensor, steps: int) -> Tensor:
    def loss(E: Tensor, truth: Tensor) -> Tensor:
        logits = E @ W.T
        return logits.logsumexp(1) - (truth * logits).sum(1)

    outer = (W[:, :, None] * W[:, None, :]).flatten(1)
    eye = torch.eye(W.shape[1], dtype=W.dtype)
    E = torch.where((loss(start, truth) > loss(start * 0, truth))[:, None], 0.0, start)
    live = torch.arange(len(E))
    for _ in range(steps):
        at, aim = E[live], truth[live]
        p = (at @ W.T).softmax(1)
        gradient, mean = (p - aim) @ W, p @ W
        hessian = (p @ outer).unflatten(1, eye.shape) - mean[:, :, None] * mean[:, None, :]
        # A row whose softmax has saturated has no curvature left; the ridge keeps its step finite.
        ridge = 1e-10 * hessian.diagonal(dim1=1, dim2=2).mean(1) + 1e-14
        move = torch.linalg.solve(hessian + ridge[:, None, None] * eye, gradient)
        decrease = (gradient * move).sum(1)
        before, size = loss(at, aim), torch.ones(len(at), 1, dtype=W.dtype)
        worse = torch.ones(len(at), dtype=torch.bool)
        trial = at
        for _ in range(30):
            trial = at - size * move
            worse = ~(loss(trial, aim) <= before - 1e-4 * size[:, 0] * decrease)
            if not worse.any():
                break
            size[worse] /= 2
        E[live] = torch.where(worse[:, None], at, trial)
        live = live[~worse & (decrease > 1e-13)]
        if not len(live):
            break
    return E


def circle_encoder(answers: np.ndarray, vocab: int, divergence: float = 1e-6) -> tuple[Encoder, dict[str, float | int]]:
    """The encoder of these answers, one row for each, with what was measured on the way."""
    used = np.unique(answers)
    angle = 2 * math.pi * torch.arange(len(used), dtype=torch.float64) / len(used)
    circle = torch.stack([angle.cos(), angle.sin()], 1)
    gaps = torch.cat([1 - angle[1:].cos(), torch.ones(vocab - len(used), dtype=torch.float64)])
    scale = _scale(gaps, divergence)
    unembed = torch.zeros(vocab, 2, dtype=torch.float64)
    unembed[torch.from_numpy(used).long()] = circle
    embed = scale * circle[torch.from_numpy(np.searchsorted(used, answers))]
    smallest = float(gaps.min()) if len(gaps) else math.inf
    return Encoder(unembed, embed), {"scale": scale, "answers": len(used), "smallest_gap": smallest}


def _scale(gaps: torch.Tensor, divergence: float) -> float:
    """The least s with log(1 + sum_j exp(-s gap_j)) <= divergence: every context has the same gaps."""
    if not len(gaps):
        return 1.0
    low, high = 0.0, math.log(len(gaps) / math.expm1(divergence)) / float(gaps.min())
    for _ in range(80):
        middle = (low + high) / 2
        if float(torch.log1p((-middle * gaps).exp().sum())) > divergence:
            low = middle
        else:
            high = middle
    return high


def helmert(vocab: int) -> Float[Tensor, "vocab less"]:
    """An orthonormal basis of what is orthogonal to (1, ..., 1): column j sets token j against those before it."""
    before = torch.arange(1, vocab, dtype=torch.float64)
    basis = torch.ones(vocab, vocab - 1, dtype=torch.float64).triu()
    basis[torch.arange(1, vocab), torch.arange(vocab - 1)] = -before
    return basis / (before * (before + 1)).sqrt()


def exact_encoder(truth: Float[Tensor, "contexts vocab"], dim: int, floor: float = 1e-12) -> Encoder:
    """W E(t) = log pi_t up to a shift, in dim >= vocab - 1 dimensions."""
    vocab = truth.shape[1]
    basis = helmert(vocab)
    spare = (0, dim - basis.shape[1])
    return Encoder(
        torch.nn.functional.pad(basis, spare),
        torch.nn.functional.pad(centred_log(truth, floor) @ basis, spare),
    )
