"""Cabannes, Dohmatob and Bietti 2024: how the error of a linear memory falls on heavy-tailed data."""

from __future__ import annotations

from rote.models.linear_memory import LinearMemory
from rote.theory.bound import Value
from rote.theory.result import result


@result(
    "cabannes2024.scaling_law",
    kind="order",
    about=LinearMemory,
    statement="T ~ d; on data with Zipf exponent a > 1 the error falls as d^(1 - a)",
)
def scaling_law(spec: LinearMemory) -> Value:
    """Storing the d likeliest associations is the best a memory of outer products does; the tail is the error."""
    return Value(
        spec.dim,
        spec.free_parameters,
        f"it keeps the {spec.dim} likeliest contexts; with Zipf exponent 2 an error of order {1 / spec.dim:.3g}",
    )
