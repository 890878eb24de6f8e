"""Bietti et al. 2023, "Birth of a Transformer: A Memory Viewpoint" (NeurIPS): outer products as memories."""

from __future__ import annotations

from rote.models.attention_only import AttentionOnly
from rote.theory.bound import Value, bound


@bound(
    "bietti2023.outer_product",
    kind="order",
    source="Bietti et al. 2023",
    statement="T ~ d: W = sum_i u_g(i) e_i^T with random embeddings",
)
def outer_product(spec: AttentionOnly) -> Value:
    """A d x d matrix written as a sum of outer products is read without error while about d of them overlap."""
    return Value(
        spec.dim,
        spec.dim**2,
        "a linear memory of the same dim, with one random vector per context; the d^2 parameters are those of W",
    )
