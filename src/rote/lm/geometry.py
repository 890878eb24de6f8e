"""What the theorems ask of vectors: rank, Kruskal rank, general position, separation, condition.

A rank is that of `torch.linalg.matrix_rank` with its default tolerance, in float32, as in the published tests of
Mahdavi et al. 2024.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from rote.measure.intervals import Interval, wilson

SAME = 1e-5
"""Vectors nearer than this share of the largest norm are one vector: rounding alone parts them."""


@dataclass(frozen=True)
class Share:
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


def independent_share(vectors: Float[Tensor, "count dim"], size: int, samples: int, seed: int) -> Share | None:
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
    return Share(having, samples)


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
