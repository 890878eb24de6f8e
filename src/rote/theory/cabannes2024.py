"""Cabannes, Dohmatob and Bietti 2024: how the error of a linear memory falls on heavy-tailed data."""

from __future__ import annotations

from rote.models.attention_only import AttentionOnly
from rote.theory.bound import Value
from rote.theory.result import result


@result(
    "cabannes2024.scaling_law",
    kind="order",
    statement="T ~ d; on data with Zipf exponent a > 1 the error falls as d^(1 - a)",
)
def scaling_law(spec: AttentionOnly) -> Value:
    """Storing the d likeliest associations is the best a memory of outer products does; the tail is the error."""
    return Value(
        spec.dim,
        spec.dim**2,
        f"a linear memory of the same dim that keeps the {spec.dim} likeliest contexts; with Zipf exponent 2 an error "
        f"of order {1 / spec.dim:.3g}",
    )
