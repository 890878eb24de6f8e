"""Corollary 1 of Dana, Pydi and Chevaleyre 2025: two dimensions suffice for any number of associations.

With d = 2 the answers' codes lie on a circle (Proposition 3), and T facts take 2(S + 2N + 4(T - 2)) parameters. The
solve is Theorem 1's. In two dimensions features of different facts are hard to keep apart: scores are made very
sharp, and whether float32 suffices depends on the draw, so draws are plentiful and one that fails names its condition
number.
"""

from __future__ import annotations

from pydantic import Field

from rote.constructions.construction import Construction, Draft, EditRequest, Request, register_construction
from rote.constructions.dana2025.options import Theorem1Options
from rote.errors import InputError
from rote.models.attention_only import AttentionOnly
from rote.tasks import AssociationTask
from rote.theory.sizes import theorem1_spec


class Corollary1Options(Theorem1Options):
    """Theorem 1's settings, with sharper scores and more draws."""

    score_std: float | None = Field(default=100.0, gt=0)
    redraws: int = Field(default=40, ge=0)
    growths: int = Field(default=0, ge=0, le=3)


def flat_layer(request: Request[AssociationTask, Corollary1Options]) -> AttentionOnly:
    """One layer of dim 2 with the fewest heads that hold the facts."""
    if request.dim not in (None, 2):
        raise InputError(f"`dim={request.dim}`: Corollary 1 is about dim 2; leave it out, or use dana2025.theorem1")
    rank = 1 if request.options.rank_one else None
    return theorem1_spec(request.task.majority().shape, 2, request.head_dim, request.heads, rank)


def size_may_differ(request: Request[AssociationTask, Corollary1Options]) -> str:
    return f"in two dimensions it takes luck with the draw to tell the facts apart in {request.dtype}"


def build(request: Request[AssociationTask, Corollary1Options]) -> Draft:
    """Theorem 1's solve in two dimensions, always dense: a gate takes more dimensions than there are."""
    from rote.constructions.dana2025.interpolation import store_growing

    return store_growing(request.task.majority(), flat_layer(request), request, "dense")


def edit(request: EditRequest[Corollary1Options]) -> Draft:
    """Change, add and forget facts."""
    from rote.constructions.dana2025.edit import edit as changed_weights

    return changed_weights(request)


register_construction(
    Construction(
        id="dana2025.corollary1",
        summary="two dimensions, answers on a circle, any number of facts",
        paper="dana2025",
        passage="Corollary 1",
        meets="dana2025.corollary1",
        tasks=(AssociationTask,),
        build=build,
        edit=edit,
        edits_bitwise=True,
        spec=flat_layer,
        size_may_differ=size_may_differ,
        quick_facts=1_500,
        options=Corollary1Options,
    )
)
