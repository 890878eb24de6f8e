"""Bietti et al. 2023: sums of outer products as memories."""

from __future__ import annotations

from rote.models.linear_memory import LinearMemory
from rote.tasks.shape import TaskShape
from rote.theory.bound import Value
from rote.theory.result import result
from rote.theory.smallest import SmallestModel, memory_of


def smallest_outer_product(shape: TaskShape) -> SmallestModel:
    """A memory with d = T, so that the random vectors are nearly orthogonal."""
    return memory_of(shape, shape.associations, "written as outer products")


@result(
    "bietti2023.outer_product",
    kind="order",
    about=LinearMemory,
    statement="T ~ d: W = sum_i u_g(i) e_i^T with random embeddings",
    smallest=(smallest_outer_product,),
)
def outer_product(spec: LinearMemory) -> Value:
    """A d x d matrix written as a sum of outer products is read without error while about d of them overlap."""
    return Value(
        spec.dim,
        spec.free_parameters,
        "one random vector per context; the d^2 parameters are those of W",
    )
