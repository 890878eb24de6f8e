"""Cabannes, Dohmatob and Bietti 2024 (ICLR) study what a matrix W between fixed embeddings can hold; here W is the
least-squares readout: the W whose logits are closest to the centred one-hot answers,

    min_W  sum_i | C (U W e_i - onehot(g(i))) |^2 + ridge,      C = I - 11^T/N  (a softmax ignores the mean).

With A = U^T C U and B = sum_i e_i e_i^T the solution of A W B = U^T C sum_i onehot(g(i)) e_i^T is diagonal in their
eigenvectors: one pass over the facts and two eigendecompositions of d x d matrices. Every fact is recalled when T <= d:
the logits are then a row of a projection matrix, whose diagonal entry is its largest.
"""

from __future__ import annotations

from typing import Annotated

import torch
from jaxtyping import Float
from pydantic import Field
from torch import Tensor

from rote.constructions.bietti2023 import dim_for
from rote.constructions.common.memory_size import memory_spec
from rote.constructions.common.random_memory import RandomMemory
from rote.constructions.construction import Construction, Draft, Options, Request, register_construction
from rote.models.linear_memory import LinearMemory
from rote.tasks import AssociationTask


def least_squares(memory: RandomMemory, ridge: float) -> tuple[Float[Tensor, "dim dim"], float]:
    """W, and the ratio of the largest to the smallest penalised eigenvalue product."""
    centred = memory.unembed - memory.unembed.mean(0)
    outputs, left = torch.linalg.eigh(centred.T @ centred)
    inputs, right = torch.linalg.eigh(memory.inputs.T @ memory.inputs)
    products = outputs.clamp(min=0)[:, None] * inputs.clamp(min=0)
    # With fewer facts (or tokens) than dimensions some products are zero: the floor of rounding keeps them out.
    floor = products.max() * torch.finfo(torch.float64).eps * memory.dim
    penalised = products + ridge * products.mean() + floor
    crossed = centred[memory.answers].T @ memory.inputs
    return left @ ((left.T @ crossed @ right) / penalised) @ right.T, float(penalised.max() / penalised.min())


class LeastSquaresOptions(Options):
    """Settings of `cabannes2024.least_squares`."""

    ridge: Annotated[float, Field(ge=0)] = 1e-6
    """Penalty relative to the mean of the quadratic form: more damps directions that few facts share."""


def memory_for(request: Request[AssociationTask, LeastSquaresOptions]) -> LinearMemory:
    """As large as for outer products, but no larger than the number of facts, at which all are recalled."""
    shape = request.task.shape
    return memory_spec(request.task, request.dim or max(2, min(dim_for(shape), shape.associations)))


def build(request: Request[AssociationTask, LeastSquaresOptions]) -> Draft:
    """One closed form for W."""
    from rote.constructions.cabannes2024.least_squares import least_squares
    from rote.constructions.common.random_memory import random_memory

    memory = random_memory(request, memory_for(request).dim)
    solved, spread = least_squares(memory, request.options.ridge)
    return Draft(memory.model(solved), measured={"facts": memory.task.facts, "eigenvalue_spread": spread})


register_construction(
    Construction(
        id="cabannes2024.least_squares",
        summary="least-squares readout of a linear memory: closed form, all facts up to dim, most beyond",
        paper="cabannes2024",
        passage="closed form by rote",
        unpromised="the paper's laws are about other ways to write such a matrix",
        sizes=("dim",),
        tasks=(AssociationTask,),
        build=build,
        spec=memory_for,
        options=LeastSquaresOptions,
        exact=False,
    )
)
