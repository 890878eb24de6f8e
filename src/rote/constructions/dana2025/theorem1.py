"""Theorem 1 of Dana, Pydi and Chevaleyre 2025: one attention layer stores p = Hk + d associations, exactly.

Random attention gives every fact a row of p features; a linear solve for W_O fits as many facts as the features have
rank. With as many features as facts nothing is left to spare (zero slack), which is where `zero_slack` solves.
"""

from __future__ import annotations

import math
from typing import Literal

from pydantic import Field

from rote.constructions.construction import Construction, Draft, Options, Request, register
from rote.models.attention_only import AttentionOnly
from rote.tasks import AssociationTask
from rote.theory.sizes import theorem1_spec

ARROWHEAD_ROOM = 0.05
"""Heads beyond the fewest that the arrowhead is given where their number is left open, as a share: without them, and
with fuller blocks and random codes, float32 moved margins of airports by .14 to .22 of the smallest; now by .009."""


class Theorem1Options(Options):
    """Settings of the zero-slack solve."""

    score_std: float | None = Field(default=None, gt=0)
    """Standard deviation of attention scores; chosen by the task, and raised on redraws, when absent."""
    redraws: int = Field(default=4, ge=0)
    """How often attention is drawn again when a draw is ill-conditioned or misses a fact."""
    right_hand_sides: int = Field(default=4, ge=1)
    """Answer codes tried per draw; the one with the best-conditioned skip map is kept."""
    solve: Literal["auto", "dense", "arrowhead"] = "auto"
    """One dense solve, or the gated arrowhead for many facts; chosen by size."""
    growths: int = Field(default=3, ge=0, le=3)
    """How often heads are added (5, 15, then 30 %) when no draw stores every fact, or rounding
    moves margins too far, and their number was left open."""
    rank_one: bool = False
    """Query-key matrices of rank one (Remark 2), saving 2d(k - 1) parameters a head."""


def layer_for(request: Request[AssociationTask, Theorem1Options]) -> AttentionOnly:
    """One layer with the fewest heads that hold the facts, or for the arrowhead a few more; an error where no solve
    can."""
    from rote.constructions.dana2025.zero_slack import check_answers, chosen_method

    task, options = request.task.majority(), request.options
    spec = theorem1_spec(task.shape, request.dim, request.head_dim, request.heads, 1 if options.rank_one else None)
    check_answers(task, spec)
    if chosen_method(task, spec, options.solve) == "arrowhead" and request.heads is None:
        return spec.model_copy(update={"heads": spec.heads + math.ceil(ARROWHEAD_ROOM * spec.heads)})
    return spec


def doubt(request: Request[AssociationTask, Theorem1Options]) -> str:
    if request.heads is not None or not request.options.growths:
        return f"whether a draw stores every fact in {request.dtype} is seen when it is made"
    return "heads are added when no draw stores every fact, or rounding moves margins too far"


def build(request: Request[AssociationTask, Theorem1Options]) -> Draft:
    """Attention at random, W_O by one linear solve."""
    from rote.constructions.dana2025.more_heads import store_growing
    from rote.constructions.dana2025.zero_slack import chosen_method

    task, spec = request.task.majority(), layer_for(request)
    return store_growing(task, spec, request, chosen_method(task, spec, request.options.solve))


register(
    Construction(
        id="dana2025.theorem1",
        summary="one attention layer, p = Hk + d facts by one linear solve",
        paper="dana2025",
        passage="Theorem 1; skip gauge and conditioning by rote",
        meets="dana2025.theorem1",
        tasks=(AssociationTask,),
        build=build,
        spec=layer_for,
        doubt=doubt,
        options=Theorem1Options,
    )
)
