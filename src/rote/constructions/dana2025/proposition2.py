"""Proposition 2: with d >= N - 1 a sequence encoder meets every distribution exactly."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from rote.constructions.construction import Construction, Draft, Options, Request, register_construction
from rote.constructions.dana2025.options import encoder_spec
from rote.errors import InputError
from rote.models.sequence_encoder import SequenceEncoder
from rote.tasks import DistributionTask


class Proposition2Options(Options):
    floor: Annotated[float, Field(gt=0, lt=1)] = 1e-12
    """Zeros of pi are raised to this: log 0 has no finite logit. It costs at most N times as much divergence."""


def exact_spec(request: Request[DistributionTask, Proposition2Options]) -> SequenceEncoder:
    """Dimension vocab - 1, or the larger one that was given."""
    least = max(1, request.task.vocab - 1)
    dim = least if request.dim is None else request.dim
    if dim < least:
        raise InputError(
            f"`dim={dim}` is below vocab - 1 = {least}; Proposition 2 needs that much, and below it some "
            "distributions cannot be met. Raise `dim`, or use dana2025.sequence_encoder"
        )
    return encoder_spec(request.task, dim)


def build(request: Request[DistributionTask, Proposition2Options]) -> Draft:
    """The table of log pi in Helmert's basis."""
    from rote.constructions.dana2025.encoder import encoder_model, exact_encoder, expected_divergence, truth_and_prior

    task, dim = request.task, exact_spec(request).dim
    truth, prior = truth_and_prior(task)
    encoder = exact_encoder(truth, dim, request.options.floor)
    measured = {"divergence_float64": expected_divergence(truth, prior, encoder.logits)}
    return Draft(encoder_model(encoder, task, request.dtype), measured=measured)


register_construction(
    Construction(
        id="dana2025.proposition2",
        summary="a table of dimension N - 1 that meets every distribution exactly",
        paper="dana2025",
        passage="Proposition 2",
        meets="dana2025.proposition2",
        sizes=("dim",),
        tasks=(DistributionTask,),
        build=build,
        spec=exact_spec,
        options=Proposition2Options,
        exact=False,
    )
)
