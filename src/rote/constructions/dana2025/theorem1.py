"""Theorem 1 of Dana, Pydi and Chevaleyre 2025: one attention layer stores p = Hk + d associations, exactly.

Random attention gives every fact a row of p features; a linear solve for W_O fits as many facts as the features have
rank. With as many features as facts the system is exactly determined: `interpolation` solves it there.
"""

from __future__ import annotations

import math

import numpy as np

from rote.constructions.construction import Construction, Draft, EditRequest, Request, register_construction
from rote.constructions.dana2025.options import Theorem1Options
from rote.models.attention_only import AttentionOnly
from rote.models.grid import is_grid
from rote.tasks import AssociationTask
from rote.theory.sizes import theorem1_spec

BORDERED_ROOM = 0.05
"""Share of further heads that a bordered system gets if `heads` is not given. Without them, with fuller groups and
random codes, float32 moved margins of airports by 0.14 to 0.22 of the smallest; with them by 0.009."""


FACTS_PER_SECOND = 700
"""Measured on countries, airports and wordnet, 700 to 1,200 per CPU second."""
LARGE = 2_500
"""Facts that end in the same token, from which on their factorisation is counted by itself."""
FLOPS = 5e10
"""Of an LU factorisation of several thousand rows on one core: nine tenths of its matrix products."""


def layer_for(request: Request[AssociationTask, Theorem1Options]) -> AttentionOnly:
    """One layer with the fewest heads that hold the facts, or 5 % more for a bordered system.

    Raises an error where no solve can hold them.
    """
    return _chosen(request)[1]


def _chosen(request: Request[AssociationTask, Theorem1Options]) -> tuple[AssociationTask, AttentionOnly, str]:
    """The facts with one answer per key, the layer, and the solve that stores them."""
    from rote.constructions.dana2025.interpolation import check_answers, chosen_solve

    task, options = request.task.majority(), request.options
    spec = theorem1_spec(task.shape, request.dim, request.head_dim, request.heads, 1 if options.rank_one else None)
    check_answers(task, spec)
    solve = chosen_solve(task, spec, options.solve)
    if solve == "arrowhead" and request.heads is None:
        spec = spec.model_copy(update={"heads": spec.heads + math.ceil(BORDERED_ROOM * spec.heads)})
    if options.spare is not None and request.heads is None:
        # An edit of W_O alone takes as many features of heads as facts: the skip connection's do not count.
        heads = math.ceil((task.facts + options.spare) / spec.head_dim)
        spec = spec.model_copy(update={"heads": max(spec.heads, heads)})
    return task, spec, solve


def size_may_differ(request: Request[AssociationTask, Theorem1Options]) -> str:
    if request.heads is not None or not request.options.growths:
        return f"whether a draw stores every fact in {request.dtype} is seen when it is made"
    return "heads are added when no draw stores every fact, or rounding moves margins too far"


def cpu_seconds(request: Request[AssociationTask, Theorem1Options]) -> float:
    """Estimate of the solve's CPU time: about linear in the facts, for the bordered system as for the dense one.

    Beyond `LARGE` facts that end in the same token, the cube of their number counts: they share one factorisation.
    """
    alike = np.bincount(request.task.contexts[:, -1]).astype(np.float64)
    factorised = 2 / 3 * float((alike[alike > LARGE] ** 3).sum())
    return 0.5 + request.task.facts / FACTS_PER_SECOND + factorised / FLOPS


def build(request: Request[AssociationTask, Theorem1Options]) -> Draft:
    """Attention at random, W_O by one linear solve."""
    if is_grid(request.dtype):
        from rote.constructions.dana2025.on_grid import build_on_grid

        return build_on_grid(request)
    from rote.constructions.dana2025.interpolation import store_growing

    task, spec, solve = _chosen(request)
    return store_growing(task, spec, request, solve)


def edit(request: EditRequest[Theorem1Options]) -> Draft:
    """Change, add and forget facts."""
    from rote.constructions.dana2025.edit import edit as changed_weights

    return changed_weights(request)


register_construction(
    Construction(
        id="dana2025.theorem1",
        summary="one attention layer, p = Hk + d facts by one linear solve",
        paper="dana2025",
        passage="Theorem 1; absorbed skip connection and conditioning by rote",
        meets="dana2025.theorem1",
        tasks=(AssociationTask,),
        build=build,
        edit=edit,
        edits_bitwise=True,
        spec=layer_for,
        size_may_differ=size_may_differ,
        cpu_seconds=cpu_seconds,
        on_grids=True,
        options=Theorem1Options,
    )
)
