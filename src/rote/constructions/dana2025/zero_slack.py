"""Zero slack: exactly as many features as facts, one linear solve, drawn again until every fact is recalled.

Slack is the number of features beyond the number of facts. Every bit of it makes the system easier to solve; without
any, the system is square, and all facts that the theorem promises are stored.

What is needed for that in float32 is in the modules beside this one: orthonormal value maps, the exact skip gauge,
weights rounded before features are computed from them, a limit on the condition number. The built model is run on the
facts; a draw that misses one is drawn again, as is one whose margins rounding moves too far, and facts that no draw
stores are an error.
"""

from __future__ import annotations

import math
from typing import Any

import torch

from rote.constructions.common.random_attention.score_size import score_sizes
from rote.constructions.construction import Draft, Request
from rote.constructions.dana2025.arrowhead import arrowhead_attempt, arrowhead_refusal
from rote.constructions.dana2025.dense import dense_attempt
from rote.constructions.dana2025.theorem1 import Theorem1Options
from rote.errors import CheckFailed, InputError
from rote.measure.certificate import examine
from rote.measure.rounding import MOST_ROUNDING
from rote.models.attention_only import AttentionOnly
from rote.models.model import Model, dtype_named
from rote.tasks import AssociationTask
from rote.theory.dana2025 import promised

DENSE_FACTS = 2_500
"""Above this the arrowhead is preferred, where it can be used: it is faster from about there on, and better
conditioned."""
MOST_DENSE_FACTS = 25_000
"""Above this a dense solve is not chosen any more: it would hold 12 facts^2 bytes, 7.5 GB."""

ROUNDING_REDRAWS = 1
"""How often attention is drawn again for smaller rounding alone: where one more draw does not help, more heads do."""


class NoDrawStores(CheckFailed):
    """Every draw was refused or missed facts."""

    def __init__(self, message: str, singular: bool) -> None:
        super().__init__(message)
        self.singular = singular
        """Whether the features of every draw were dependent, which a little room does not mend."""


def check_answers(task: AssociationTask, spec: AttentionOnly) -> None:
    if spec.dim == 1 and task.shape.answers > 2:
        raise InputError(
            f"`dim=1`: logits that are multiples of one number have their maximum at one of two answers, and these "
            f"facts have {task.shape.answers}; `dim=2` holds any number (Corollary 1)"
        )


def chosen_method(task: AssociationTask, spec: AttentionOnly, asked: str) -> str:
    """Dense for few facts; the arrowhead beyond, where it can be used."""
    refusal = arrowhead_refusal(task, spec)
    if asked == "arrowhead" and refusal:
        raise InputError(f"`solve=arrowhead`: {refusal}")
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
    task: AssociationTask, spec: AttentionOnly, request: Request[AssociationTask, Theorem1Options], method: str
) -> Draft:
    """Draw until every fact of `task` (the request's, one answer a key) is recalled in the dtype that is saved, with
    margins that its rounding hardly moves; of several draws whose margins it does move, the best is kept."""
    options, dtype = request.options, dtype_named(request.dtype)
    generator = torch.Generator().manual_seed(request.seed)
    attempt_by = {"dense": dense_attempt, "arrowhead": arrowhead_attempt}[method]
    tried: list[dict[str, Any]] = []
    rounded: list[Draft] = []
    for redraw, score_size in enumerate(score_sizes(options.score_std, options.redraws)):
        attempt = attempt_by(task, spec, dtype, score_size, options.right_hand_sides, generator, request.progress)
        missed = task.facts
        if attempt.weights is not None:
            model = Model(spec, attempt.weights, task.vocabulary)
            examination = examine(model, request.task, progress=request.progress)
            certificate = examination.certificate
            missed = certificate.recallable - certificate.recalled
            if certificate.complete:
                measured = {"method": method, "redraws": redraw, **attempt.measured}
                rounded.append(Draft(model, promised(spec), measured, examination=examination))
                if not too_rounded(rounded[-1]) or len(rounded) > ROUNDING_REDRAWS:
                    break
        tried.append({**attempt.measured, "missed": missed})
    if rounded:
        return min(rounded, key=rounding)
    singular = all(math.isinf(draw["condition"]) for draw in tried)
    raise NoDrawStores(_not_met(task, spec, request.dtype, tried), singular)


def rounding(draft: Draft) -> float:
    """How far rounding moves a margin of this model, as a share of the smallest."""
    share = None if draft.examination is None else draft.examination.certificate.margin_rounding
    return math.inf if share is None else share


def too_rounded(draft: Draft) -> bool:
    """Whether float32 moves margins too far. Half dtypes move them by more whatever the draw; they are only stated."""
    return draft.model.dtype_name == "float32" and rounding(draft) > MOST_ROUNDING


def _not_met(task: AssociationTask, spec: AttentionOnly, dtype: str, tried: list[dict[str, Any]]) -> str:
    best = min(tried, key=lambda draw: (draw["missed"], draw["condition"]))
    outcome = "was refused" if best["missed"] == task.facts else f"left {best['missed']} facts missed"
    blocks = f" (worst block {best['block_condition']:.1e})" if "block_condition" in best else ""
    return (
        f"dim {spec.dim}, head_dim {spec.head_dim}, heads {spec.heads}: {task.facts} facts could not be stored in "
        f"{dtype} after {len(tried)} draws; the best had condition number {best['condition']:.1e}{blocks} at "
        f"score standard deviation {best['score_std']:.3g} and {outcome}. Try another `seed`, a few more `heads` (a "
        f"model with room to spare is better conditioned), a larger `dim`, or `dtype=float64`"
    )
