"""Theorem 1 at the interpolation threshold: exactly as many features as facts, and one linear solve.

Slack is the number of features beyond the number of facts; each one makes the system easier to solve. Without any the
system is square (exactly determined) and stores all facts that the theorem guarantees.

The neighbouring modules make this work in float32: orthonormal value maps, a reparametrization that absorbs the skip
connection, weights rounded before features are computed from them, a limit on the condition number. The built model is
run on the facts. Attention is resampled if a fact is missed or rounding moves margins too far; if no sample stores the
facts, that is an error.

More heads if no sample of attention stores every fact, or rounding moves margins too far.

A model with a few more features than facts is better conditioned.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import torch

from rote.constructions.common.random_attention.draw import score_sizes
from rote.constructions.construction import Abandoned, Draft, Request
from rote.constructions.dana2025.bordered import bordered_attempt, bordered_refusal
from rote.constructions.dana2025.dense import dense_attempt
from rote.constructions.dana2025.options import Theorem1Options
from rote.constructions.dana2025.output_system import output_attempt
from rote.constructions.dana2025.solution import TooFewHeads
from rote.errors import CheckFailed, InputError
from rote.measure.certificate import MOST_ROUNDING, examine
from rote.models.attention_only import AttentionOnly
from rote.models.model import Model, dtype_named
from rote.tasks import AssociationTask
from rote.theory.crowding import crowding
from rote.theory.dana2025 import guaranteed

DENSE_FACTS = 2_500
"""Above this a bordered system is preferred where it can be used: it is faster and better conditioned from here on."""
MOST_DENSE_FACTS = 25_000
"""Above this a dense solve is not chosen: it would hold 12 facts^2 bytes, 7.5 GB."""

SINGULAR = 1e12
"""Condition number of the best sample from which the features may be dependent, whatever the sample."""

ROUNDING_REDRAWS = 1
"""How often attention is resampled for smaller rounding alone: where one more sample does not help, more heads do."""


class NoSampleStores(CheckFailed):
    """Every sample of attention was rejected or missed facts."""

    def __init__(self, message: str, singular: bool) -> None:
        super().__init__(message)
        self.singular = singular
        """Whether the features of every sample were linearly dependent, which a few more heads do not mend."""


def check_answers(task: AssociationTask, spec: AttentionOnly) -> None:
    if spec.dim == 1 and task.shape.answers > 2:
        raise InputError(
            f"`dim=1`: logits that are multiples of one number have their maximum at one of two answers, and these "
            f"facts have {task.shape.answers}; `dim=2` holds any number (Corollary 1)"
        )


def chosen_solve(task: AssociationTask, spec: AttentionOnly, asked: str) -> str:
    """Dense for few facts; a bordered system (arrowhead) beyond, where it can be used."""
    refusal = bordered_refusal(task, spec)
    if asked == "arrowhead" and refusal:
        raise InputError(f"`solve=arrowhead`: {refusal}")
    if asked != "auto":
        return asked
    if task.facts <= DENSE_FACTS:
        return "dense"
    if refusal and task.facts > MOST_DENSE_FACTS:
        raise InputError(
            f"{task.facts} facts need `solve=arrowhead` (a dense solve would hold {12 * task.facts**2 / 1e9:.0f} GB), "
            f"but {refusal}"
        )
    return "dense" if refusal else "arrowhead"


def store(
    task: AssociationTask, spec: AttentionOnly, request: Request[AssociationTask, Theorem1Options], method: str
) -> Draft:
    """Sample attention until every fact of `task` (one answer per key) is recalled in the saved dtype.

    Its rounding should hardly move the margins. If it moves those of every sample, the best sample is returned.
    """
    options, dtype = request.options, dtype_named(request.dtype)
    generator = torch.Generator().manual_seed(request.seed)
    attempt_by = {"dense": dense_attempt, "arrowhead": bordered_attempt}[method]
    tried: list[dict[str, Any]] = []
    rounded: list[Draft] = []
    for redraw, score_size in enumerate(score_sizes(options.score_std, options.redraws)):
        codes = code_seed(request.seed, redraw)
        attempt = attempt_by(
            task, spec, dtype, score_size, options.right_hand_sides, generator, codes, request.progress
        )
        missed = task.facts
        if attempt.weights is not None and options.spare is not None:
            attempt = output_attempt(attempt, task, spec, codes, request.progress)
        if attempt.weights is not None:
            model = Model(spec, attempt.weights, task.vocabulary)
            examination = examine(model, request.task, progress=request.progress)
            certificate = examination.certificate
            missed = certificate.recallable - certificate.recalled
            if certificate.complete:
                measured = {"method": method, "redraws": redraw, **attempt.measured}
                solve = method if options.spare is None else "output"
                sample = {"solve": solve, "redraws": redraw, "heads": spec.heads, **attempt.choices}
                rounded.append(Draft(model, guaranteed(spec), measured, examination=examination, sample=sample))
                if not too_rounded(rounded[-1]) or len(rounded) > ROUNDING_REDRAWS:
                    break
        tried.append({**attempt.measured, "missed": missed})
    if rounded:
        return min(rounded, key=rounding)
    singular = all(math.isinf(draw["condition"]) for draw in tried)
    raise NoSampleStores(_not_met(task, spec, request.dtype, tried), singular)


def code_seed(seed: int, redraw: int) -> int:
    """Seed of the answer codes and targets of a sample: the same whatever attention needed to be drawn."""
    return (seed * 1_000_003 + redraw * 7_919 + 0x5EED) % 2**63


def rounding(draft: Draft) -> float:
    """How far rounding moves a logit margin of this model, as a share of the smallest margin."""
    share = None if draft.examination is None else draft.examination.certificate.margin_rounding
    return math.inf if share is None else share


def too_rounded(draft: Draft) -> bool:
    """Whether float32 moves margins too far. Half dtypes always move them by more; that is reported, not rejected."""
    return draft.model.dtype_name == "float32" and rounding(draft) > MOST_ROUNDING


def _not_met(task: AssociationTask, spec: AttentionOnly, dtype: str, tried: list[dict[str, Any]]) -> str:
    best = min(tried, key=lambda draw: (draw["missed"], draw["condition"]))
    outcome = "was rejected" if best["missed"] == task.facts else f"left {best['missed']:,} facts missed"
    groups = f" (worst group {best['group_condition']:.1e})" if "group_condition" in best else ""
    crowded = None if best["condition"] < SINGULAR else crowding(task.contexts, spec.dim, spec.head_dim, spec.heads)
    if crowded:
        return (
            f"dim {spec.dim}, head_dim {spec.head_dim}, heads {spec.heads}: no layer of these sizes stores these "
            f"{task.facts:,} facts by a solve. They crowd on few tokens: {crowded} (docs/lemma2.md). Narrower heads in "
            f"greater number lose less: give a smaller `head_dim`, more `heads`, or leave both out"
        )
    return (
        f"dim {spec.dim}, head_dim {spec.head_dim}, heads {spec.heads}: {task.facts:,} facts could not be stored in "
        f"{dtype} after {len(tried)} samples; the best had condition number {best['condition']:.1e}{groups} at "
        f"score standard deviation {best['score_std']:.3g} and {outcome}. Try another `seed`, a few more `heads` (a "
        f"model with room to spare is better conditioned), a larger `dim`, or `dtype=float64`"
    )


SHARES = (0.05, 0.15, 0.3)
"""Heads that are added, as shares of the fewest: a few mend most samples, and bfloat16 needs a quarter more."""


def store_growing(
    task: AssociationTask, spec: AttentionOnly, request: Request[AssociationTask, Theorem1Options], solve: str
) -> Draft:
    """Store the facts at this specification, and with more heads if that fails and `heads` was not given."""
    shares = iter(SHARES[: request.options.growths] if request.heads is None else ())
    fewest = heads = spec.heads
    abandoned: list[Abandoned] = []
    best: Draft | None = None
    while True:
        grown = spec.model_copy(update={"heads": heads})
        try:
            draft = replace(store(task, grown, request, solve), abandoned=tuple(abandoned))
            best = draft if best is None else min(best, draft, key=rounding)
            share = next(shares, None) if too_rounded(draft) else None
            if share is None:
                return best
            reason = f"rounding moves a margin by {rounding(draft):.2g} of the smallest, more than {MOST_ROUNDING:g}"
        except TooFewHeads as error:
            if request.heads is not None:
                raise
            # These contexts' features have a smaller rank than the sizes of the task alone let expect.
            fewest, share, reason = error.heads, 0.0, str(error)
        except NoSampleStores as error:
            share, reason = max(shares, default=None) if error.singular else next(shares, None), str(error)
            if share is None:
                if best is None:
                    raise
                return best
        heads = fewest + (max(1, round(share * fewest)) if share else 0)
        abandoned.append(Abandoned.model(grown, reason))
