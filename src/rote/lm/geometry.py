"""What the theorems require of a model's vectors: rank, Kruskal rank, general position, separation, condition.

A rank is that of `torch.linalg.matrix_rank` with its default tolerance, in float32, as in the published tests of
Mahdavi et al. 2024.

Theorem 2 of Dana et al. 2025 bounds the divergence of a Transformer from noisy look-up tables: rows with a likeliest
token g and entropy h, the rest uniform. Its expectation E[(1 - pi(g)) log((N - 1)/(e^h - 1))] is measured on the
model's own next-token distributions. The factor (1 + 2C)/(1 - 2C) with C = sqrt(32 ln(N + 1)/d) exists only for
d > 128 ln(N + 1).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from rote.measure.intervals import Interval, wilson

SAME = 1e-5
"""Vectors nearer than this share of the largest norm are one vector: rounding alone parts them."""


@dataclass(frozen=True)
class SampleFraction:
    """How many of the samples have a property, with Wilson's interval."""

    having: int
    samples: int

    @property
    def value(self) -> float:
        return self.having / self.samples

    @property
    def interval(self) -> Interval:
        return wilson(self.having, self.samples)

    @property
    def all(self) -> bool:
        return self.having == self.samples


@dataclass(frozen=True)
class Separation:
    """(r, delta): no vector is longer than r, and different ones are at least delta apart."""

    radius: float
    distance: float
    """Not a number where all vectors are one."""


def rank(vectors: Float[Tensor, "count dim"]) -> int:
    return int(torch.linalg.matrix_rank(vectors.float()))


def independent_share(vectors: Float[Tensor, "count dim"], size: int, samples: int, seed: int) -> SampleFraction | None:
    """Of random subsets of `size` vectors, how many are independent: 1 for every size up to the Kruskal rank.

    None where there are fewer vectors than that, or fewer dimensions.
    """
    count, dim = vectors.shape
    if size > count or size > dim:
        return None
    generator = torch.Generator().manual_seed(seed)
    having = 0
    for _ in range(samples):
        chosen = vectors[torch.randperm(count, generator=generator)[:size]]
        having += int(torch.linalg.matrix_rank(chosen.float())) == size
    return SampleFraction(having, samples)


def full_rank_contexts(contexts: Float[Tensor, "count tokens dim"]) -> tuple[int, Float[Tensor, " count"]]:
    """How many contexts have as high a rank as they have tokens, and the condition number of each."""
    values = torch.linalg.svdvals(contexts.float())
    _, tokens, dim = contexts.shape
    tolerance = values[:, :1] * max(tokens, dim) * torch.finfo(torch.float32).eps
    return int(((values > tolerance).sum(1) == tokens).sum()), values[:, 0] / values[:, -1]


def separation(vectors: Float[Tensor, "count dim"]) -> Separation:
    """(r, delta)-separation of a sample of tokens (Kajitsuka and Sato 2025)."""
    x = vectors.float()
    radius = float(x.norm(dim=1).max())
    # Exact differences: by inner products, near vectors would come out as equal.
    distances = torch.cdist(x, x, compute_mode="donot_use_mm_for_euclid_dist")
    apart = distances[distances > SAME * radius]
    return Separation(radius, float(apart.min()) if len(apart) else float("nan"))


@dataclass(frozen=True)
class LookUp:
    """Next-token distributions after the passages."""

    entropy_bits: float
    """Mean entropy."""
    likeliest: float
    """Mean probability of the likeliest token."""
    expectation: float
    """Of Theorem 2, in nats, without its factor."""
    bound: float | None
    """Theorem 2's bound in nats; none where its condition on dim fails."""
    dim_needed: int


def look_up(logits: Float[Tensor, "count vocab"], dim: int) -> LookUp:
    """The measures of these distributions for a model of this dimension."""
    vocab = logits.shape[1]
    log_p = logits.double().log_softmax(-1)
    p = log_p.exp()
    entropy = -(p * log_p).sum(1)
    largest = p.amax(1)
    # A distribution without entropy is a look-up table: its divergence is bounded by zero in the limit.
    spread = ((vocab - 1) / entropy.expm1().clamp_min(1e-300)).log().clamp_min(0)
    expectation = float(((1 - largest) * spread).mean())
    needed = math.floor(128 * math.log(vocab + 1)) + 1
    bound = None
    if dim >= needed:
        C = math.sqrt(32 * math.log(vocab + 1) / dim)
        bound = expectation * (1 + 2 * C) / (1 - 2 * C)
    return LookUp(float(entropy.mean()) / math.log(2), float(largest.mean()), expectation, bound, needed)
