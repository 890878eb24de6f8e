"""Proposition 2: with d >= N - 1 a sequence encoder meets every distribution exactly."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from rote.constructions.construction import Construction, Draft, Options, Request, register
from rote.errors import InputError
from rote.tasks import DistributionTask


class Proposition2Options(Options):
    """Settings of Proposition 2."""

    floor: Annotated[float, Field(gt=0, lt=1)] = 1e-12
    """Zeros of pi are raised to this: log 0 has no finite logit. It costs at most N times as much divergence."""


def build(request: Request[DistributionTask, Proposition2Options]) -> Draft:
    """The table of log pi in Helmert's basis."""
    from rote.constructions.dana2025.encoder import encoder_model, expected_divergence, truth_and_prior
    from rote.constructions.dana2025.exact_encoder import exact_encoder

    task = request.task
    dim = max(1, task.vocab - 1) if request.dim is None else request.dim
    if dim < task.vocab - 1:
        raise InputError(
            f"dim: {dim} is below vocab - 1 = {task.vocab - 1}; Proposition 2 needs that much, and below it some "
            "distributions cannot be met. Raise dim, or use dana2025.sequence_encoder"
        )
    truth, prior = truth_and_prior(task)
    encoder = exact_encoder(truth, dim, request.options.floor)
    measured = {"divergence_float64": expected_divergence(truth, prior, encoder.logits)}
    return Draft(encoder_model(encoder, task, request.dtype), measured=measured)


register(
    Construction(
        id="dana2025.proposition2",
        summary="a table of dimension N - 1 that meets every distribution exactly",
        paper="dana2025",
        passage="Proposition 2",
        meets="dana2025.proposition2",
        sizes=("dim",),
        tasks=(DistributionTask,),
        build=build,
        options=Proposition2Options,
        exact=False,
    )
)
