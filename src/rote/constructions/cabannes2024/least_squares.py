"""Cabannes, Dohmatob and Bietti 2024 (ICLR) study what a matrix W between fixed embeddings can hold; here W is the
least-squares readout: the W whose logits are closest to the centred one-hot answers,

    min_W  sum_i | C (U W e_i - onehot(g(i))) |^2 + ridge,      C = I - 11^T/N  (a softmax ignores the mean).

With A = U^T C U and B = sum_i e_i e_i^T the solution of A W B = U^T C sum_i onehot(g(i)) e_i^T is diagonal in their
eigenvectors: one pass over the facts and two eigendecompositions of d x d matrices. Every fact is recalled when T <= d:
the logits are then a row of a projection matrix, whose diagonal entry is its largest.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from rote.constructions.bietti2023 import dim_for
from rote.constructions.common.memory_size import memory_spec
from rote.constructions.common.rebuilding import rebuilt_by
from rote.constructions.construction import Construction, Draft, Options, Request, register_construction
from rote.models.linear_memory import LinearMemory
from rote.tasks import AssociationTask


class LeastSquaresOptions(Options):
    ridge: Annotated[float, Field(ge=0)] = 1e-6
    """Penalty relative to the mean of the quadratic form: more damps directions that few facts share."""


def memory_for(request: Request[AssociationTask, LeastSquaresOptions]) -> LinearMemory:
    """As large as for outer products, but no larger than the number of facts, at which all are recalled."""
    shape = request.task.shape
    return memory_spec(request.task, request.dim or max(2, min(dim_for(shape), shape.associations)))


def build(request: Request[AssociationTask, LeastSquaresOptions]) -> Draft:
    """One closed form for W."""
    from rote.constructions.cabannes2024.solve import least_squares
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
        unguaranteed="the paper's laws are about other ways to write such a matrix",
        sizes=("dim",),
        tasks=(AssociationTask,),
        build=build,
        edit=rebuilt_by("cabannes2024.least_squares"),
        spec=memory_for,
        options=LeastSquaresOptions,
        exact=False,
    )
)
