"""Bietti et al. 2023 (NeurIPS): a matrix remembers by a sum of outer products, W = sum_i u_{g(i)} e_i^T.

u_j . W e_i is 1 for the right answer plus noise: (e_i . e_i')-sized where another key has answer j (standard deviation
1/sqrt(d) each) and 1/d-sized for every other pair. With T facts over M answers the noise has variance
T/(M d) + T/d^2, against the square of the 1 that must exceed the largest of N such noises. Hence about d facts an
answer when answers are few, and about d^2 over a logarithm in all when every fact has its own.
"""

from __future__ import annotations

import math

from rote.constructions.common.memory_size import memory_spec
from rote.constructions.common.rebuilding import rebuilt_by
from rote.constructions.construction import Construction, Draft, Options, Request, register_construction
from rote.models.linear_memory import LinearMemory
from rote.tasks import AssociationTask, TaskShape


def memory_for(request: Request[AssociationTask, Options]) -> LinearMemory:
    """A dim at which the noise is expected below the signal."""
    return memory_spec(request.task, request.dim or dim_for(request.task.shape))


def build(request: Request[AssociationTask, Options]) -> Draft:
    """Write every fact once, in one pass; nothing is solved for."""
    from rote.constructions.common.random_memory import random_memory

    memory = random_memory(request, memory_for(request).dim)
    measured = {"facts": memory.task.facts, "noise_std": noise_std(memory.task.shape, memory.dim)}
    # The bound is an order of magnitude: it guarantees no number of facts.
    return Draft(memory.model(memory.outer_products()), measured=measured)


def noise_std(shape: TaskShape, dim: int) -> float:
    """Expected size of the noise on a wrong answer's logit, in units of the right answer's signal."""
    return math.sqrt(shape.associations / (shape.answers * dim) + shape.associations / dim**2)


def dim_for(shape: TaskShape) -> int:
    """Smallest power of two at which the largest of T N noises is expected below the signal of 1.

    Right and wrong answers both carry noise, so their difference has twice its variance.
    """
    worst = math.sqrt(4 * math.log(max(2, shape.associations * shape.vocab)))
    dim = 4
    while worst * noise_std(shape, dim) > 1:
        dim *= 2
    return dim


register_construction(
    Construction(
        id="bietti2023",
        summary="outer products of random embeddings in a linear memory: no solve, most facts recalled",
        paper="bietti2023",
        meets="bietti2023.outer_product",
        sizes=("dim",),
        tasks=(AssociationTask,),
        build=build,
        edit=rebuilt_by("bietti2023"),
        spec=memory_for,
        options=Options,
        exact=False,
    )
)
