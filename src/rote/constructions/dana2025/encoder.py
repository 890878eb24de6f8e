"""Sequence encoders f(t) = W E(t): what every Transformer of embedding dimension d is, seen from its unembedding.

Dana, Pydi and Chevaleyre 2025, Definition 1: L(N, S, d) holds all maps from contexts to logits whose matrix has rank
at most d. Proposition 1: no Transformer of embedding dimension d comes closer to a distribution than the best of them.

Notation: `unembed` is W (vocab x dim), `embed` is E (contexts x dim), `truth` holds pi_t in its rows, `prior` pi(t).
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from rote.constructions.dana2025.encoder_sizes import encoder_spec
from rote.models.budget import SOLVE_FLOATS, rows_within
from rote.models.model import Model, dtype_named
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
        left, singular, right = torch.linalg.svd(_small_product(self.unembed, self.embed))
        basis_w, basis_e = torch.linalg.qr(self.unembed)[0], torch.linalg.qr(self.embed)[0]
        root = singular.sqrt()
        return Encoder(_fill(basis_w @ left * root, self.dim), _fill(basis_e @ right.T * root, self.dim))


def _small_product(unembed: Tensor, embed: Tensor) -> Tensor:
    return torch.linalg.qr(unembed)[1] @ torch.linalg.qr(embed)[1].T


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
