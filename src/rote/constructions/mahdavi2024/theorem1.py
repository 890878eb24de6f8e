"""Mahdavi, Liao and Thrampoulidis 2024 (ICLR), Theorem 1: one attention layer without skip or MLP memorizes
T = H(min(n, k) - 1) + 1 examples, each a context of n vectors, a query and an output.

Attention is fixed first (see `routes`); the heads' outputs z_1 .. z_H on all examples then form the rows of
a matrix of full rank, and one linear solve gives W_V with any outputs at all. W_O only places them and the readout is
the identity, or a code per class. Notation: n is `context`, d `dim`, k `head_dim`, d_v `value_dim`, H `heads`.
"""

from __future__ import annotations

from rote.constructions.construction import Construction, Draft, Request, register_construction
from rote.constructions.mahdavi2024.options import ID, TheoremOptions
from rote.tasks import VectorTask


def build(request: Request[VectorTask, TheoremOptions]) -> Draft:
    """W_Q and W_K by one of two routes, then W_V by a linear solve."""
    from rote.constructions.mahdavi2024.attention import solve_values

    return solve_values(request)


register_construction(
    Construction(
        id=ID,
        summary="attention with a separate query memorizes H(min(n, k) - 1) + 1 vector examples, or up to Hd",
        paper="mahdavi2024",
        passage="Theorem 1",
        meets=ID,
        tasks=(VectorTask,),
        build=build,
        options=TheoremOptions,
    )
)
