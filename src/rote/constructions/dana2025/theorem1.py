"""Theorem 1 of Dana, Pydi and Chevaleyre 2025: one attention layer stores p = Hk + d associations, exactly.

Random attention gives every fact a row of p features; a linear solve for W_O fits as many facts as the features have
rank. The corrections that make it work in float32 at zero slack are in the modules beside this one: orthonormal value
maps, the exact skip gauge, weights rounded before the features are computed, a gate on the condition number. The
built model is run on every fact; a draw that misses one is drawn again, and one that cannot be met is an error.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import torch
from pydantic import Field

from rote.constructions.construction import Construction, Draft, Options, Request, register
from rote.constructions.dana2025.arrowhead import arrowhead_attempt, arrowhead_refusal
from rote.constructions.dana2025.dense import dense_attempt
from rote.constructions.parts.random_attention.draw import ScoreSize
from rote.errors import CheckFailed, InputError
from rote.measure.recall import recall
from rote.models.attention_only import AttentionOnly
from rote.models.model import Model, dtype_named
from rote.tasks import AssociationTask, Task
from rote.theory.dana2025 import promised
from rote.theory.sizes import theorem1_spec

DENSE_FACTS = 2_500
MOST_DENSE_FACTS = 25_000
"""Above the first the arrowhead is preferred, where it can be used: it is faster from about there on, and better
conditioned. Above the second a dense solve is not chosen any more."""

SAMPLED_FACTS = 5_000


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
    rank_one: bool = False
    """Query-key matrices of rank one (Remark 2), saving 2d(k - 1) parameters a head."""


def build_theorem1(request: Request) -> Draft:
    task, options = associations(request.task), request.options
    spec = theorem1_spec(task.shape, request.dim, request.head_dim, request.heads, 1 if options.rank_one else None)
    check_answers(task, spec)
    method = chosen_method(task, spec, options.solve)
    return store(task, spec, request, score_sizes(options), method, "dana2025.theorem1")


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


def score_sizes(options: Theorem1Options) -> list[ScoreSize]:
    """For each draw: the one asked for, or the usual one and others around it."""
    around = (1.0, 0.5, 2.0, 0.7)
    return [ScoreSize(options.score_std, around[draw % len(around)]) for draw in range(options.redraws + 1)]


def chosen_method(task: AssociationTask, spec: AttentionOnly, asked: str) -> str:
    """Dense for few facts; the arrowhead beyond, where it can be used."""
    refusal = arrowhead_refusal(task, spec)
    if asked == "arrowhead" and refusal:
        raise InputError(f"solve arrowhead: {refusal}")
    if asked != "auto":
        return asked
    if task.facts <= DENSE_FACTS:
        return "dense"
    if refusal and task.facts > MOST_DENSE_FACTS:
        raise InputError(
            f"{task.facts} facts need the arrowhead (a dense solve would hold {12 * task.facts**2 / 1e9:.0f} GB), "
            f"but {refusal}"
        )
    return "dense" if refusal else "arrowhead"


def store(
    task: AssociationTask, spec: AttentionOnly, request: Request, scores: list[ScoreSize], method: str, bound: str
) -> Draft:
    """Draw until every fact is recalled in the dtype that is saved."""
    options, dtype = request.options, dtype_named(request.dtype)
    generator = torch.Generator().manual_seed(request.seed)
    attempt_by = {"dense": dense_attempt, "arrowhead": arrowhead_attempt}[method]
    tried: list[dict[str, Any]] = []
    sample = _sample(task, request.seed)
    for redraw, score_size in enumerate(scores):
        attempt = attempt_by(task, spec, dtype, score_size, options.right_hand_sides, generator, request.progress)
        missed = task.facts
        if attempt.weights is not None:
            model = Model(spec, attempt.weights, task.vocabulary)
            missed = len(recall(model, sample, request.progress).missed)
            if not missed:
                measured = {"method": method, "redraws": redraw, **attempt.measured}
                return Draft(model, bound, promised(spec), measured)
        tried.append({**attempt.measured, "missed": missed})
    raise CheckFailed(_not_met(task, spec, request, tried))


def _sample(task: AssociationTask, seed: int) -> AssociationTask:
    """The facts a draw is judged by: all of them, or enough of many, since an ill-conditioned draw misses many.

    `rote.build` runs the model on every fact in any case; this only saves doing so twice.
    """
    if task.facts <= SAMPLED_FACTS:
        return task
    rows = np.random.default_rng(seed).choice(task.facts, SAMPLED_FACTS, replace=False)
    return task.take(np.sort(rows))


def _not_met(task: AssociationTask, spec: AttentionOnly, request: Request, tried: list[dict[str, Any]]) -> str:
    best = min(tried, key=lambda one: (one["missed"], one["condition"]))
    outcome = "was refused" if best["missed"] == task.facts else f"left {best['missed']} facts missed"
    blocks = f" (worst block {best['block_condition']:.1e})" if "block_condition" in best else ""
    return (
        f"dim {spec.dim}, head_dim {spec.head_dim}, heads {spec.heads}: {task.facts} facts could not be stored in "
        f"{request.dtype} after {len(tried)} draws; the best had condition number {best['condition']:.1e}{blocks} at "
        f"score standard deviation {best['score_std']:.3g} and {outcome}. Try another --seed, a few more heads (slack "
        f"lowers the condition number), a larger dim, or dtype float64"
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
