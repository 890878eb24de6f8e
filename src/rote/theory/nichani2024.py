"""Nichani, Lee and Bietti 2024: a trained d x d matrix stores d^2 associations up to logarithms.

The constant is that of Giorlandino et al. 2026.
"""

from __future__ import annotations

import math

from rote.models.linear_memory import LinearMemory
from rote.tasks.shape import TaskShape
from rote.theory.bound import Value
from rote.theory.contexts import largest
from rote.theory.result import result
from rote.theory.smallest import SmallestModel, memory_of


def linear_capacity(dim: int) -> int:
    """Largest T with T <= d^2 / (2 ln T)."""
    return largest(lambda T: 2 * T * math.log(T) <= dim**2, dim**2)


def smallest_linear_memory(shape: TaskShape) -> SmallestModel:
    """The smallest d with d^2 >= 2 T ln T."""
    dim = max(1, math.isqrt(math.ceil(2 * shape.associations * math.log(shape.associations))))
    while linear_capacity(dim) < shape.associations:
        dim += 1
    return memory_of(shape, dim, "trained")


@result(
    "nichani2024.linear_memory",
    where="with the constant of Giorlandino et al. 2026",
    kind="order",
    about=LinearMemory,
    statement="T = d^2/(2 ln T) when W is trained",
    smallest=(smallest_linear_memory,),
)
def linear_memory(spec: LinearMemory) -> Value:
    """The d^2 numbers of W hold about d^2 associations when they are trained rather than written as outer products."""
    return Value(
        linear_capacity(spec.dim),
        spec.free_parameters,
        "trained, with one random vector per context; the d^2 parameters are those of W",
    )
