"""Nichani, Lee and Bietti 2024, "Understanding Factual Recall in Transformers via Associative Memories".

A trained d x d matrix stores d^2 associations up to logarithms; the constant is that of Giorlandino et al. 2026.
"""

from __future__ import annotations

import math

from rote.models.attention_only import AttentionOnly
from rote.theory.bound import Value, bound, largest


def linear_capacity(dim: int) -> int:
    """Largest T with T <= d^2 / (2 ln T)."""
    return largest(lambda T: 2 * T * math.log(T) <= dim**2, dim**2)


@bound(
    "nichani2024.linear_memory",
    kind="order",
    source="Nichani, Lee, Bietti 2024; constant of Giorlandino et al. 2026",
    statement="T = d^2/(2 ln T) when W is trained",
)
def linear_memory(spec: AttentionOnly) -> Value:
    """The d^2 numbers of W hold about d^2 associations when they are trained rather than written as outer products."""
    return Value(
        linear_capacity(spec.dim),
        spec.dim**2,
        "a trained linear memory of the same dim, one random vector per context; the d^2 parameters are those of W",
    )
