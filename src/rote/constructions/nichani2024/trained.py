"""Nichani, Lee and Bietti 2024: a trained linear memory holds about d^2 facts up to logarithms; Giorlandino et al. 2026
give the constant, T = d^2/(2 ln T) as T grows.

Embeddings stay random; only W is fitted, by cross-entropy. That is convex in W, so L-BFGS either finds a W that recalls
every fact or converges to a proof that there is none.
"""

from __future__ import annotations

import math
from typing import Annotated

from pydantic import Field

from rote.constructions.common.memory_size import memory_spec
from rote.constructions.common.rebuilding import rebuilt_by
from rote.constructions.construction import Construction, Draft, Options, Request, register_construction
from rote.errors import CheckFailed
from rote.models.linear_memory import LinearMemory
from rote.tasks import AssociationTask, TaskShape

GROWTH = 1.25
"""Factor by which a dim that is not given grows when it does not hold every fact."""
GROWN_ENOUGH = 2
"""Up from T dimensions the keys' vectors are independent and any answers can be read, so twice that never fails."""


class TrainedOptions(Options):
    steps: Annotated[int, Field(ge=1)] = 3000
    """L-BFGS steps at most."""


def memory_for(request: Request[AssociationTask, TrainedOptions]) -> LinearMemory:
    """Where the search for a dim starts."""
    shape = request.task.shape
    return memory_spec(request.task, request.dim or dim_for(shape.associations, shape.answers))


def size_may_differ(request: Request[AssociationTask, TrainedOptions]) -> str:
    return "dim grows by a quarter while the trained memory misses facts" if request.dim is None else ""


def build(request: Request[AssociationTask, TrainedOptions]) -> Draft:
    """Fit W to all facts. A dim that is given and too small is an error; one that is not given grows until it does."""
    from rote.constructions.common.random_memory import random_memory
    from rote.constructions.nichani2024.fit import train

    shape = request.task.shape
    facts, tried = shape.associations, []
    dim = memory_for(request).dim
    while True:
        memory = random_memory(request, dim)
        fitted = train(memory, request.options.steps, request.progress)
        tried.append(dim)
        if fitted.recalled == facts:
            break
        if request.dim is not None or dim > GROWN_ENOUGH * facts:
            how = f"after {fitted.steps} steps (cross-entropy {fitted.loss:.3g})"
            raise CheckFailed(_failure(shape, dim, fitted.recalled, how, request.dim is not None))
        dim = math.ceil(dim * GROWTH)
    measured = {"steps": fitted.steps, "cross_entropy": fitted.loss, "dims_tried": tried}
    # The capacity is that of facts with an answer each: fewer answers than dimensions leave rows of W unused.
    guaranteed = capacity(dim) if shape.answers > dim else None
    return Draft(memory.model(fitted.memory), guaranteed, measured)


def _failure(shape: TaskShape, dim: int, recalled: int, how: str, given: bool) -> str:
    facts, answers = shape.associations, shape.answers
    remedy = "leave `dim` out to have one chosen, or raise it" if given else "try another `seed`, or a larger `dim`"
    return (
        f"nichani2024.trained: {facts - recalled} of {facts} facts are missed at dim {dim} {how}. d^2/(2 ln T) is "
        f"{capacity(dim)} there, for facts with an answer each; {answers} answers use {min(answers - 1, dim)} of {dim} "
        f"rows of W. The fit is convex: {remedy}; or raise `steps` if it stopped at the limit"
    )


def capacity(dim: int) -> int:
    """Largest T with 2 T ln T <= d^2."""
    low, high = 1, dim**2 + 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if 2 * middle * math.log(middle) <= dim**2 else (low, middle)
    return low


def dim_for(facts: int, answers: int) -> int:
    """Where the search for a dim starts: the smallest d with d^2 >= 2 T ln T that also gives M answers enough rows.

    M answers in d dimensions are M - 1 free vectors, which tell apart about 2 d (M - 1)/log2 M facts: exact for two
    answers (Cover 1965), and beyond them a rule of two bits a number. Two dimensions at least: logits along one line
    have two maxima.
    """
    whole = math.sqrt(2 * facts * math.log(max(2, facts)))
    few = facts * math.log2(answers) / (2 * (answers - 1)) if answers > 1 else 0
    return max(2, math.ceil(whole), math.ceil(few))


register_construction(
    Construction(
        id="nichani2024.trained",
        summary="linear memory whose matrix is trained: about d^2/(2 ln T) facts, convex",
        paper="nichani2024",
        passage="with the constant of Giorlandino et al. 2026",
        meets="nichani2024.linear_memory",
        sizes=("dim",),
        tasks=(AssociationTask,),
        build=build,
        spec=memory_for,
        size_may_differ=size_may_differ,
        quick_facts=2_000,
        edit=rebuilt_by("nichani2024.trained"),
        options=TrainedOptions,
    )
)
