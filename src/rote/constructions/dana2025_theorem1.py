"""Theorem 1 of Dana, Pydi and Chevaleyre 2025: one attention layer stores p = Hk + d associations, exactly.

Random attention gives every fact a row of p features; a linear solve for W_O fits as many facts as the features have
rank. The corrections that make it work in float32 at zero slack are in the modules beside this one: orthonormal value
maps, the exact skip gauge, weights rounded before the features are computed, a gate on the condition number. The
built model is run on every fact; a draw that misses one is drawn again, and one that cannot be met is an error.
"""

from __future__ import annotations

from typing import Any

import torch
from pydantic import Field

from rote.constructions.construction import Construction, Draft, Options, Request, register
from rote.constructions.dense import dense_attempt
from rote.errors import CheckFailed, InputError
from rote.measure.recall import recall
from rote.models.attention_only import AttentionOnly
from rote.models.model import Model, dtype_named
from rote.tasks import AssociationTask, Task
from rote.theory.sizes import theorem1_spec


class Theorem1Options(Options):
    """Settings of the zero-slack solve."""

    score_std: float | None = Field(default=None, gt=0)
    """Standard deviation of attention scores; chosen by the task, and raised on redraws, when absent."""
    redraws: int = Field(default=4, ge=0)
    """How often attention is drawn again when a draw is ill-conditioned or misses a fact."""
    right_hand_sides: int = Field(default=4, ge=1)
    """Answer codes tried per draw; the one with the best-conditioned skip map is kept."""
    rank_one: bool = False
    """Query-key matrices of rank one (Remark 2), saving 2d(k - 1) parameters a head."""


def build_theorem1(request: Request) -> Draft:
    task, options = associations(request.task), request.options
    spec = theorem1_spec(task.shape, request.dim, request.head_dim, request.heads, 1 if options.rank_one else None)
    check_answers(task, spec)
    return store(task, spec, request, score_stds(spec, options), "dana2025.theorem1")


def associations(task: Task) -> AssociationTask:
    """What can be stored of the task: one answer per key. `rote.build` has checked its kind."""
    if not isinstance(task, AssociationTask):
        raise InputError(f"dana2025.theorem1 stores an AssociationTask, not a {type(task).__name__}")
    return task.majority()


def check_answers(task: AssociationTask, spec: AttentionOnly) -> None:
    if spec.dim == 1 and task.shape.answers > 2:
        raise InputError(
            f"dim: logits that are multiples of one number have their maximum at one of two answers, and these facts "
            f"have {task.shape.answers}; dim 2 holds any number (Corollary 1)"
        )


def score_stds(spec: AttentionOnly, options: Theorem1Options) -> list[float]:
    """Standard deviation of the scores for each draw.

    Sharp attention keeps many heads apart, but with few heads it leaves facts on which none of them looks back: 1.6
    times the root of the number of heads, within 2 and 30, lies where condition numbers were smallest.
    """
    if options.score_std is not None:
        return [options.score_std] * (options.redraws + 1)
    middle = min(30.0, max(2.0, 1.6 * spec.heads**0.5))
    around = (1.0, 2.0, 0.5, 3.0)
    return [middle * around[draw % len(around)] for draw in range(options.redraws + 1)]


def store(task: AssociationTask, spec: AttentionOnly, request: Request, stds: list[float], bound: str) -> Draft:
    """Draw until every fact is recalled in the dtype that is saved."""
    options, dtype = request.options, dtype_named(request.dtype)
    generator = torch.Generator().manual_seed(request.seed)
    tried: list[dict[str, Any]] = []
    for redraw, score_std in enumerate(stds):
        attempt = dense_attempt(task, spec, dtype, score_std, options.right_hand_sides, generator, request.progress)
        missed = task.facts
        if attempt.weights is not None:
            model = Model(spec, attempt.weights, task.vocabulary)
            missed = len(recall(model, task, request.progress).missed)
            if not missed:
                conditions = {"method": "dense", "redraws": redraw, **attempt.conditions}
                return Draft(model, bound, spec.promised, conditions)
        tried.append({**attempt.conditions, "missed": missed})
    raise CheckFailed(_not_met(task, spec, request, tried))


def _not_met(task: AssociationTask, spec: AttentionOnly, request: Request, tried: list[dict[str, Any]]) -> str:
    best = min(tried, key=lambda one: (one["missed"], one["condition"]))
    outcome = f"left {best['missed']} of {task.facts} facts missed" if best["missed"] < task.facts else "was refused"
    return (
        f"dim {spec.dim}, head_dim {spec.head_dim}, heads {spec.heads}: {task.facts} facts could not be stored in "
        f"{request.dtype} after {len(tried)} draws; the best had condition number {best['condition']:.1e} at score "
        f"standard deviation {best['score_std']:.3g} and {outcome}. Try another --seed, a few more heads (slack lowers "
        f"the condition number), a larger dim, or dtype float64"
    )


register(
    Construction(
        id="dana2025.theorem1",
        summary="one attention layer, p = Hk + d facts by one linear solve",
        source="Dana, Pydi, Chevaleyre 2025, Theorem 1; skip gauge and conditioning by rote",
        tasks=(AssociationTask,),
        build=build_theorem1,
        options=Theorem1Options,
    )
)
