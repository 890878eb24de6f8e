"""`rote.readout`: more facts than Theorem 1 guarantees, by fitting W_O and W_U on fixed random attention.

Theorem 1 requires E(t) exactly and so stores p facts, the rank of the features. A fact requires only the strict
maximum: W_O (with the skip connection absorbed) and W_U are fitted by cross-entropy until the saved model, in
its own dtype, recalls every fact by more than its rounding noise.

How many fit: about 2(dp + md) / log2 m for m answers, two bits per fitted number (measured, d >= 5); for two answers
this is Cover's 2p. It is an estimate: beyond it the construction says how many it stored, and fails.
"""

from __future__ import annotations

from typing import Any

from rote.constructions.common.rebuilding import rebuilt_by
from rote.constructions.construction import Abandoned, Construction, Draft, Request, register_construction
from rote.constructions.rote.options import SAFETY, ReadoutOptions
from rote.errors import CheckFailed
from rote.models.attention_only import AttentionOnly
from rote.tasks import AssociationTask
from rote.theory.dana2025 import guaranteed
from rote.theory.rote_readout import readout_spec
from rote.threads import cpu_time

GROWTH = 0.12
"""Share of heads that is added when a fit fails: small, to stay near the fewest that do, and enough for a few tries."""


EVALUATIONS, FLOPS = 1_000, 2e10
"""Evaluations that a fit usually takes, and float32 operations per second of one core in products of these shapes."""


def layer_for(request: Request[AssociationTask, ReadoutOptions]) -> AttentionOnly:
    """Where the fit starts: the fewest heads that the estimate lets hope for."""
    from rote.constructions.dana2025.interpolation import check_answers

    task = request.task.majority()
    spec = readout_spec(task.shape, request.dim, request.head_dim, request.heads)
    check_answers(task, spec)
    return spec


def size_may_differ(request: Request[AssociationTask, ReadoutOptions]) -> str:
    return "the size is an estimate: heads are added while a fit misses facts"


def cpu_seconds(request: Request[AssociationTask, ReadoutOptions]) -> float:
    """Estimate of the fit's CPU time: four products per evaluation, and about a thousand evaluations."""
    spec, shape = layer_for(request), request.task.shape
    rank = min(shape.associations, spec.dim + spec.heads * spec.head_dim)
    per_evaluation = 8 * shape.associations * spec.dim * (rank + shape.answers)
    return 1 + EVALUATIONS * per_evaluation / FLOPS


def build(request: Request[AssociationTask, ReadoutOptions]) -> Draft:
    """Fit; where that fails and the number of heads is open, fit again with more of them."""
    import torch

    from rote.constructions.rote.attempt import attempt
    from rote.measure.recall import recall

    task, options, spec = request.task.majority(), request.options, layer_for(request)
    generator = torch.Generator().manual_seed(request.seed)
    failed, abandoned = "", []
    for growth in range(1 + (options.growths if request.heads is None else 0)):
        model, fit, measured = attempt(task, spec, request, generator)
        if fit.accepted:
            measured = {"growths": growth, "guaranteed_by_theorem1": guaranteed(spec), **measured}
            return Draft(model, measured["estimate"], measured, abandoned=tuple(abandoned))
        failed = _failure(task, spec, request.dtype, recall(model, task).recalled, measured)
        abandoned.append(Abandoned.model(spec, failed))
        if request.deadline is not None and cpu_time() > request.deadline:
            raise CheckFailed(f"{failed}. The time ran out; give it more")
        spec = spec.model_copy(update={"heads": spec.heads + max(1, round(GROWTH * spec.heads))})
    raise CheckFailed(failed)


def _failure(task: AssociationTask, spec: AttentionOnly, dtype: str, recalled: int, measured: dict[str, Any]) -> str:
    if recalled == task.facts:
        outcome = (
            f"all {task.facts:,} facts are recalled in {dtype}, but the smallest margin {measured['margin']:.2g} "
            f"is not {SAFETY:g} times the rounding noise {measured['rounding_noise']:.2g}"
        )
    else:
        outcome = f"{recalled:,} of {task.facts:,} facts are recalled in {dtype}"
    return (
        f"dim {spec.dim}, head_dim {spec.head_dim}, heads {spec.heads}: {outcome} after {measured['evaluations']} "
        f"evaluations. The estimate 2(dp + md)/log2 m for this model is {measured['estimate']:,} facts (p = "
        f"{measured['rank']}). Give more `heads` or a larger `dim`, leave `heads` out, or allow more `steps`"
    )


register_construction(
    Construction(
        id="rote.readout",
        summary="more facts than Theorem 1: random attention, W_O and W_U fitted by cross-entropy",
        paper="rote",
        passage="absorbed skip connection of dana2025.theorem1, about two bits per fitted number",
        meets="rote.readout",
        tasks=(AssociationTask,),
        build=build,
        spec=layer_for,
        size_may_differ=size_may_differ,
        cpu_seconds=cpu_seconds,
        quick_facts=500,
        edit=rebuilt_by("rote.readout"),
        options=ReadoutOptions,
    )
)
