"""Whitening: coordinates in which the features of all facts are orthonormal.

Fits by gradients converge in them at a pace that does not depend on the features' condition number.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor


@dataclass(frozen=True, eq=False)
class Whitened:
    """Orthonormal columns (times sqrt(facts)) with the span of the features, and the way back."""

    columns: Float[Tensor, "facts rank"]
    back: Float[Tensor, "features rank"]
    """features @ back = columns."""

    @property
    def rank(self) -> int:
        return self.columns.shape[1]


def whiten(features: Float[Tensor, "facts features"], cutoff: float = 1e-4) -> Whitened:
    """By the eigenvectors of the smaller Gram matrix; directions below `cutoff` of the largest are left out.

    Float32 features carry an error of about 1e-6, which smaller directions would turn into noise of the logits.
    """
    facts, count = features.shape
    tall = count <= facts
    sizes, vectors = torch.linalg.eigh(features.T @ features if tall else features @ features.T)
    kept = sizes > cutoff**2 * sizes[-1]
    sizes, vectors = sizes[kept], vectors[:, kept]
    if tall:
        back = vectors * (facts / sizes).sqrt()
        return Whitened(features @ back, back)
    return Whitened(vectors * math.sqrt(facts), features.T @ (vectors / sizes) * math.sqrt(facts))
